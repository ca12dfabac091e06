import { parseExact, stringifyExact } from '../../core/lib/exact-json.ts';
import { Payload } from '../../core/lib/payload.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/** Shorter texts, of about 250 tokens, save too little to be worth a change. */
const MIN_CHARS = 1_000;
/** Longer texts would delay other calls, and are truncated anyway. */
const MAX_CHARS = 200_000;
/** A table must be shorter than this share of the minified JSON. */
const MAX_TABLE_SHARE = 0.85;
const MIN_ROWS = 3;
const MAX_COLUMNS = 60;

export const TABLE_NOTE =
  'Tab-separated; cells as in JSON, strings unquoted where that is unambiguous, empty if absent.';

/**
 * Minifies the JSON texts of a result; a list of flat objects becomes a table if that is shorter. Nothing is lost: numbers keep their digits,
 * and a table is used only if the JSON text can be restored from it. Structured content is not changed.
 */
export function compactResult(payload: Payload, { tables }: { readonly tables: boolean }): Payload {
  const { outline, length } = payload;
  if (length < MIN_CHARS || length > 2 * MAX_CHARS || !isJsonObject(outline)) return payload;
  if (outline['resultType'] === 'input_required' || !Array.isArray(outline['content'])) return payload;
  const result = payload.value as JsonObject; // The outline of the same value is an object.
  let isChanged = false;
  const content = (result['content'] as readonly unknown[]).map((block) => {
    if (!isJsonObject(block) || block['type'] !== 'text' || typeof block['text'] !== 'string') return block;
    const text = compactText(block['text'], tables);
    if (text === block['text']) return block;
    isChanged = true;
    return { ...block, text };
  });
  return isChanged ? Payload.of({ ...result, content }) : payload;
}

/** Returns the shortest form of a JSON text. Returns any other text unchanged. */
export function compactText(text: string, tables: boolean): string {
  if (text.length < MIN_CHARS || text.length > MAX_CHARS || !/^\s*[[{]/.test(text)) return text;
  const minified = minify(text);
  if (minified === undefined) return text;
  const table = tables ? toTables(minified) : undefined;
  return table !== undefined && table.length < MAX_TABLE_SHARE * minified.length ? table : minified;
}

/** Removes the space between the tokens of a JSON text, and changes nothing else; undefined if the text is not JSON. */
function minify(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
}

/** Turns an array of flat objects, or the largest such array in an object, into a table. */
function toTables(minified: string): string | undefined {
  const value = parseExact(minified);
  // A text with a repeated key or an unusual notation of a number could not be restored from a table.
  if (stringifyExact(value) !== minified) return undefined;
  if (Array.isArray(value)) {
    const table = toTable(value, minified.length);
    return table === undefined ? undefined : `${TABLE_NOTE}\n${table}`;
  }
  if (!isJsonObject(value)) return undefined;
  const lists = Object.entries(value).flatMap(([key, list]) => {
    const table = Array.isArray(list) ? toTable(list, minified.length) : undefined;
    return table === undefined ? [] : [{ key, table }];
  });
  const [longest] = lists.toSorted((a, b) => b.table.length - a.table.length);
  if (longest === undefined) return undefined;
  const rest = stringifyExact({ ...value, [longest.key]: [] });
  return `${rest}\n${JSON.stringify(longest.key)} as a table. ${TABLE_NOTE}\n${longest.table}`;
}

function toTable(rows: readonly unknown[], maxChars: number): string | undefined {
  if (rows.length < MIN_ROWS || !rows.every(isFlat)) return undefined;
  const keys = new Set<string>();
  for (const row of rows) {
    for (const key in row) keys.add(key);
    // Every cell takes at least one character, so this table would be longer than the JSON.
    if (keys.size > MAX_COLUMNS || keys.size * rows.length > maxChars) return undefined;
  }
  const columns = [...keys];
  for (const row of rows) {
    const own = Object.keys(row);
    // A row whose keys are in another order could not be restored.
    if (
      own.length === 0 ||
      columns.filter((column) => Object.hasOwn(row, column)).some((key, at) => key !== own[at])
    )
      return undefined;
  }
  const lines = rows.map((row) =>
    columns.map((column) => (Object.hasOwn(row, column) ? toCell(row[column]) : '')).join('\t'),
  );
  return [columns.map(toCell).join('\t'), ...lines].join('\n');
}

function isFlat(row: unknown): row is JsonObject {
  if (!isJsonObject(row)) return false;
  for (const key in row) if (typeof row[key] === 'object' && row[key] !== null) return false;
  return true;
}

/** A string that could be read as another value, or contains a separator, is written as JSON. */
const NEEDS_QUOTES =
  /^$|^["[{\s\uE000]|^-?[\d.]+(?:[eE][+-]?\d+)?$|^(?:true|false|null)$|[\u0000-\u001f\u0085\u2028\u2029]|\s$/;

function toCell(value: unknown): string {
  return typeof value === 'string' && !NEEDS_QUOTES.test(value) ? value : stringifyExact(value);
}
