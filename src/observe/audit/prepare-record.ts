import { hash } from 'node:crypto';

import { canonicalText } from '../../lib/canonical-json.ts';
import { parseExact } from '../../lib/exact-json.ts';
import { isJsonObject } from '../../model/json.ts';
import { SAMPLE_CHARS } from './audit-batch.ts';
import type { AuditSettings, CommonPart, RawRecord } from './audit-batch.ts';
import type { AuditRecord } from './audit-record.ts';
import type { OWN } from './audit-row.ts';
import { redactText, redactUri, redactValue } from './redact.ts';

export type Estimate = (text: string) => number;

type OwnMember = (typeof OWN)[number];

/** What a record has by itself; always the same members, of which the number and the hash are given later. */
export type OwnPart = { -readonly [K in OwnMember]: AuditRecord[K] | undefined } & {
  seq: number;
  at: number;
  request: string;
};

/** Longer texts are cut after they were redacted. */
const MAX_TEXT = 16_384;
const DIGEST_DIGITS = 32;

/** What takes time about a record: estimating, hashing, redacting. */
export function prepareRecord(
  raw: RawRecord,
  { settings, estimate }: { readonly settings: AuditSettings; readonly estimate: Estimate },
): OwnPart {
  const { common, argumentText, resultText, resultChars, group, details } = raw;
  return {
    seq: 0,
    at: raw.at,
    request: keepable(raw.request),
    group: keepable(group ?? raw.request),
    ms: raw.ms,
    bytesIn: raw.bytesIn,
    bytesOut: raw.bytesOut,
    tokensIn: argumentText && tokensOf(argumentText, argumentText.length, estimate),
    tokensOut: resultText && tokensOf(resultText, resultChars ?? resultText.length, estimate),
    digest: argumentText && hash('sha256', canonicalText(argumentText)).slice(0, DIGEST_DIGITS),
    arguments:
      argumentText && settings.arguments ? keepable(shown(parseExact(argumentText), common)) : undefined,
    result: resultText && settings.results ? keepable(cut(redacted(resultText))) : undefined,
    details: details && keepable(details),
    hash: undefined,
  } as OwnPart; // What is undefined is not stored, and an empty text was never one of JSON.
}

/** The part that many records have, fit to be kept. */
export function prepareCommon(common: CommonPart): CommonPart {
  const entries = Object.entries(common).map(([member, value]) => [
    member,
    typeof value === 'string' ? keepable(value) : value,
  ]);
  return Object.fromEntries(entries) as CommonPart; // The same members, and texts are still texts.
}

const SURROGATE = /[\uD800-\uDFFF]/;

/** Not every database can keep NUL or half a character, and the chain is over what is kept. */
function keepable(text: string): string {
  if (!text.includes('\0') && !SURROGATE.test(text)) return text;
  return Buffer.from(text).toString().replaceAll('\0', '\uFFFD');
}

/** A long text is like its beginning. */
function tokensOf(text: string, chars: number, estimate: Estimate): number {
  const sample = text.slice(0, SAMPLE_CHARS);
  if (sample.length === 0) return 0;
  return Math.round(estimate(sample) * (chars / sample.length));
}

function shown(value: unknown, { kind }: CommonPart): string {
  const isUri = kind === 'resource' || kind === 'subscription';
  const uri = isUri && isJsonObject(value) ? value['uri'] : undefined;
  return cut(JSON.stringify(typeof uri === 'string' ? { uri: redactUri(uri) } : redactValue(value)));
}

function redacted(text: string): string {
  try {
    return JSON.stringify(redactValue(JSON.parse(text)));
  } catch {
    return redactText(text); // It was cut before it came here.
  }
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}
