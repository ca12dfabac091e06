import { hash } from 'node:crypto';

import { canonicalizeText } from '../../core/lib/canonical-json.ts';
import { parseExact } from '../../core/lib/exact-json.ts';
import { isJsonObject } from '../../core/json.ts';
import type { AuditSettings } from './audit-messages.ts';
import type { AuditRecord } from './audit-record.ts';
import { COMMON_FIELDS } from './audit-row.ts';
import type { PER_RECORD_FIELDS } from './audit-row.ts';
import { SAMPLE_CHARS } from './record-batch.ts';
import type { CommonFields, RecordDraft } from './record-batch.ts';
import { redactText, redactUri, redactValue } from './redact.ts';

export type TokenEstimator = (text: string) => number;

interface FinalizeDeps {
  readonly settings: AuditSettings;
  readonly estimate: TokenEstimator;
}

/**
 * The fields that are stored separately for each record. `seq` and `hash` are set when the record is
 * inserted.
 */
export type PerRecordFields = {
  -readonly [K in (typeof PER_RECORD_FIELDS)[number]]: AuditRecord[K] | undefined;
} & {
  seq: number;
  at: number;
  request: string;
};

/** The records of a batch that have the same common fields. */
export interface RecordGroup {
  readonly common: CommonFields;
  readonly records: PerRecordFields[];
}

export interface FinalRecord {
  readonly group: RecordGroup;
  readonly own: PerRecordFields;
}

/** A batch that is ready to be inserted: its records in order, and grouped by their common fields. */
export interface FinalBatch {
  readonly groups: readonly RecordGroup[];
  readonly records: readonly FinalRecord[];
}

/** The maximum characters of stored arguments and results, after they were redacted. */
const MAX_TEXT_CHARS = 16_384;
/** The hexadecimal digits of the digest of arguments: 128 bits. */
const DIGEST_CHARS = 32;

/** Does the expensive work on drafts, in the audit thread: estimates tokens, hashes and redacts texts, and groups the records. */
export function finalizeDrafts(drafts: readonly RecordDraft[], deps: FinalizeDeps): FinalBatch {
  const groups = new Map<string, RecordGroup>();
  // Most drafts share one object with their common fields. Looking up the object avoids computing the key.
  const groupByObject = new Map<CommonFields, RecordGroup>();
  const groupOf = (draftFields: CommonFields): RecordGroup => {
    const common = storableFields(draftFields);
    const key = JSON.stringify(COMMON_FIELDS.map((field) => common[field] ?? null));
    const group = groups.get(key) ?? { common, records: [] };
    groups.set(key, group);
    groupByObject.set(draftFields, group);
    return group;
  };
  const records = drafts.map((draft) => {
    const group = groupByObject.get(draft.common) ?? groupOf(draft.common);
    const own = finalizeDraft(draft, deps);
    group.records.push(own);
    return { group, own };
  });
  return { groups: [...groups.values()], records };
}

/** Returns the common fields with texts that the database can store. */
function storableFields(common: CommonFields): CommonFields {
  const entries = Object.entries(common).map(([field, value]) => [
    field,
    typeof value === 'string' ? storableText(value) : value,
  ]);
  return Object.fromEntries(entries) as CommonFields; // The fields and their types are unchanged.
}

function finalizeDraft(draft: RecordDraft, { settings, estimate }: FinalizeDeps): PerRecordFields {
  const { common, argumentText, resultText, resultChars, group, details } = draft;
  return {
    seq: 0,
    at: draft.at,
    request: storableText(draft.request),
    // A call that belongs to no group forms its own.
    group: storableText(group ?? draft.request),
    ms: draft.ms,
    bytesIn: draft.bytesIn,
    bytesOut: draft.bytesOut,
    tokensIn: argumentText && estimateTokensOf(argumentText, argumentText.length, estimate),
    tokensOut: resultText && estimateTokensOf(resultText, resultChars ?? resultText.length, estimate),
    digest: argumentText && digestArguments(argumentText),
    arguments:
      argumentText && settings.arguments ? storableText(redactArguments(argumentText, common)) : undefined,
    result: resultText && settings.results ? storableText(redactResult(resultText)) : undefined,
    details: details && storableText(details),
    hash: undefined,
  } as PerRecordFields; // The cast is safe: `text && …` would be '' for an empty text, but all texts are non-empty JSON.
}

const SURROGATE = /[\uD800-\uDFFF]/;

/** Replaces NUL and unpaired surrogates, which PostgreSQL cannot store. The hash chain covers the stored text. */
function storableText(text: string): string {
  if (!text.includes('\0') && !SURROGATE.test(text)) return text;
  return Buffer.from(text).toString().replaceAll('\0', '\uFFFD');
}

/** Estimates the tokens of a text with `totalChars` characters from its beginning. */
function estimateTokensOf(text: string, totalChars: number, estimate: TokenEstimator): number {
  const sample = text.slice(0, SAMPLE_CHARS);
  if (sample.length === 0) return 0;
  return Math.round(estimate(sample) * (totalChars / sample.length));
}

function digestArguments(argumentText: string): string {
  return hash('sha256', canonicalizeOrKeep(argumentText)).slice(0, DIGEST_CHARS);
}

/**
 * Returns the arguments with sorted keys, or unchanged if they are nested too deeply: Node 26 can serialize them, but sorting their keys
 * is recursive. One such call must not fail the whole batch.
 */
function canonicalizeOrKeep(argumentText: string): string {
  try {
    return canonicalizeText(argumentText);
  } catch (error) {
    if (error instanceof RangeError) return argumentText;
    throw error;
  }
}

function redactArguments(argumentText: string, { kind }: CommonFields): string {
  const value = parseExact(argumentText);
  const hasUri = kind === 'resource' || kind === 'subscription';
  const uri = hasUri && isJsonObject(value) ? value['uri'] : undefined;
  return truncate(JSON.stringify(typeof uri === 'string' ? { uri: redactUri(uri) } : redactValue(value)));
}

function redactResult(text: string): string {
  try {
    return truncate(JSON.stringify(redactValue(JSON.parse(text))));
  } catch {
    return truncate(redactText(text)); // The queue cut the text, so it is not valid JSON.
  }
}

function truncate(text: string): string {
  return text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS)}…`;
}
