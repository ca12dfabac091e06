import { createHash } from 'node:crypto';

import { canonicalJson } from '../../lib/canonical-json.ts';
import { parseExact } from '../../lib/exact-json.ts';
import { isJsonObject } from '../../model/json.ts';
import { SAMPLE_CHARS } from './audit-batch.ts';
import type { AuditSettings, RawRecord } from './audit-batch.ts';
import type { AuditRecord } from './audit-record.ts';
import { redactText, redactUri, redactValue } from './redact.ts';

export type Estimate = (text: string) => number;

/** Longer texts are cut after they were redacted. */
const MAX_TEXT = 16_384;
const DIGEST_DIGITS = 32;

/** What takes time about a record: estimating, hashing, redacting. */
export function prepareRecord(
  raw: RawRecord,
  { settings, estimate }: { readonly settings: AuditSettings; readonly estimate: Estimate },
): Omit<AuditRecord, 'seq' | 'hash'> {
  const { argumentText, resultText, resultChars, ...record } = raw;
  return withoutNul({
    // What is undefined is not stored, and `valuesOf` treats it as absent.
    ...(record as Omit<AuditRecord, 'seq' | 'hash'>),
    ...(argumentText !== undefined && {
      tokensIn: tokensOf(argumentText, argumentText.length, estimate),
      ...ofArguments(argumentText, {
        isUri: record.kind === 'resource' || record.kind === 'subscription',
        isKept: settings.arguments,
      }),
    }),
    ...(resultText !== undefined && {
      tokensOut: tokensOf(resultText, resultChars ?? resultText.length, estimate),
      ...(settings.results && { result: cut(redacted(resultText)) }),
    }),
  });
}

/** Not every database can keep that character, and the chain is over what is kept. */
function withoutNul<T extends object>(record: T): T {
  const isClean = Object.values(record).every(
    (value: unknown) => typeof value !== 'string' || !value.includes('\0'),
  );
  if (isClean) return record;
  const entries = Object.entries(record).map(([member, value]: [string, unknown]) => [
    member,
    typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value,
  ]);
  return Object.fromEntries(entries) as T; // The same members, and texts are still texts.
}

/** A long text is like its beginning. */
function tokensOf(text: string, chars: number, estimate: Estimate): number {
  const sample = text.slice(0, SAMPLE_CHARS);
  if (sample.length === 0) return 0;
  return Math.round(estimate(sample) * (chars / sample.length));
}

function ofArguments(
  text: string,
  { isUri, isKept }: { readonly isUri: boolean; readonly isKept: boolean },
): Pick<AuditRecord, 'digest' | 'arguments'> {
  const value = parseExact(text);
  const digest = createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, DIGEST_DIGITS);
  if (!isKept) return { digest };
  const uri = isUri && isJsonObject(value) ? value['uri'] : undefined;
  const shown = typeof uri === 'string' ? { uri: redactUri(uri) } : redactValue(value);
  return { digest, arguments: cut(JSON.stringify(shown)) };
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
