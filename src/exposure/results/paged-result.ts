import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { parseExact, stringifyExact } from '../../core/lib/exact-json.ts';
import { describeJson } from './describe-json.ts';
import type { EstimateTokens } from './is-oversized.ts';
import { createBlockPart, createJsonPart } from './result-parts.ts';
import type { ResultPart } from './result-parts.ts';
import { splitRecords } from './split-records.ts';
import { TextUnits } from './text-units.ts';

export interface PagedResultOptions {
  readonly maxTokens: number;
  readonly estimate: EstimateTokens;
}

/** A part of a result, split into units. `offset` is the number of units in all parts before it. */
export type PagedPart = {
  readonly offset: number;
  /** The number of units; media are one unit. */
  readonly count: number;
  /** Whether the part only repeats the content. */
  readonly isRepeated: boolean;
} & (
  | (Extract<ResultPart, { kind: 'text' }> & {
      readonly units: TextUnits;
      readonly unit: 'line' | 'record';
      /** A short description of the JSON, such as `JSON array of 3 values`; absent for plain text. */
      readonly shape?: string;
      /** The first line of a table such as CSV, which every page and search repeats. */
      readonly header?: string | undefined;
    })
  | Extract<ResultPart, { kind: 'media' }>
);

/** Tokens of a page that are reserved for our note about it. */
const NOTE_TOKENS = 150;
/** The members of a result that stay in the answer may together have the token limit divided by this number. */
const MEMBERS_DIVISOR = 8;
/** Members that always stay in the answer, because they are small and describe the result itself. */
const ALWAYS_INLINE: ReadonlySet<string> = new Set(['resultType', 'isError', 'ttlMs', 'cacheScope']);

/** A stored result, split into units that each fit into one answer. */
export class PagedResult {
  readonly parts: readonly PagedPart[];
  /** Members that are small and stay in the answer to the call. */
  readonly members: JsonObject;
  /** The number of units in all parts. */
  readonly total: number;
  /** The number of parts that are content; the parts after them are members of the result. */
  readonly contentParts: number;
  /** Tokens that a page may have. */
  readonly budget: number;
  readonly estimate: EstimateTokens;

  constructor(text: string, { maxTokens, estimate }: PagedResultOptions) {
    const result = parseExact(text);
    const { content: rawContent, ...rest } = isJsonObject(result) ? result : {};
    const blocks: readonly unknown[] = Array.isArray(rawContent) ? rawContent : [];
    const { small, large } = separateMembers(rest, { budget: maxTokens / MEMBERS_DIVISOR, estimate });
    this.budget = maxTokens - NOTE_TOKENS;
    this.estimate = estimate;
    this.members = small;
    this.contentParts = blocks.length;
    let total = 0;
    const content = blocks.map(createBlockPart);
    const texts = content.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
    const [structuredPointer, structured] = ['/structuredContent', rest['structuredContent']];
    const isRepeated =
      large.some(({ pointer }) => pointer === structuredPointer) && isRepetition(structured, texts);
    this.parts = [...content, ...large].map((part) => {
      const position = { offset: total, isRepeated: isRepeated && part.pointer === structuredPointer };
      const paged = splitPart(part, position, this.budget);
      total += paged.count;
      return paged;
    });
    this.total = total;
  }

  /** Returns the index of the part that contains this offset, or the number of parts if none does. */
  partAt(offset: number): number {
    // Binary search for the first part that ends after the offset.
    let [low, high] = [0, this.parts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const { offset: first = 0, count = 0 } = this.parts[middle] ?? {};
      if (first + count <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Keeps small members for the answer; large ones become parts. */
function separateMembers(
  members: JsonObject,
  options: { readonly budget: number; readonly estimate: EstimateTokens },
): { readonly small: JsonObject; readonly large: readonly ResultPart[] } {
  const small: [string, unknown][] = [];
  const large: ResultPart[] = [];
  let { budget } = options;
  for (const [name, value] of Object.entries(members)) {
    const cost = ALWAYS_INLINE.has(name) ? 0 : options.estimate(stringifyExact(value), budget);
    if (cost <= budget) {
      budget -= cost;
      small.push([name, value]);
    } else large.push(createJsonPart(`/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, value));
  }
  return { small: Object.fromEntries(small), large };
}

/** Whether structured content only repeats one of the texts, which the protocol recommends to servers. */
function isRepetition(value: unknown, texts: readonly string[]): boolean {
  const members = isJsonObject(value) ? Object.values(value) : [];
  const [onlyMember] = members;
  if (members.length === 1 && typeof onlyMember === 'string' && texts.includes(onlyMember)) return true;
  const json = stringifyExact(value);
  return texts.some((text) => text === json || (hasSimilarLength(text, json) && isSameJson(text, json)));
}

/** Whether a text can be the same JSON: indentation makes JSON up to about four times as long. Other texts are not worth parsing. */
function hasSimilarLength(text: string, json: string): boolean {
  return text.length >= json.length && text.length <= 4 * json.length;
}

function isSameJson(text: string, json: string): boolean {
  try {
    return stringifyExact(parseExact(text)) === json;
  } catch {
    return false; // The text is not JSON.
  }
}

function splitPart(
  part: ResultPart,
  { offset, isRepeated }: Pick<PagedPart, 'offset' | 'isRepeated'>,
  maxLength: number,
): PagedPart {
  if (part.kind === 'media') return { ...part, offset, isRepeated, count: 1 };
  const shape = describeJson(part.text);
  if (shape === undefined) {
    const units = splitLines(part.text, maxLength);
    return {
      ...part,
      offset,
      isRepeated,
      count: units.count,
      units,
      unit: 'line',
      header: findHeader(part.text),
    };
  }
  const units = splitRecords(part.text, maxLength);
  return { ...part, offset, isRepeated, count: units.count, units, unit: 'record', shape };
}

/** A longer header is not repeated. */
const MAX_HEADER = 600;
const DELIMITERS = [',', '\t', ';', '|'];
const HEADER_ROWS = 5;

/** Returns the header of a table: the first line, if the lines after it have as many delimiters. */
function findHeader(text: string): string | undefined {
  const [header = '', ...rows] = text
    .slice(0, (HEADER_ROWS + 2) * MAX_HEADER)
    .split(/\r?\n/, HEADER_ROWS + 1);
  if (header.length > MAX_HEADER || rows.length < HEADER_ROWS) return undefined;
  const isTable = DELIMITERS.some((delimiter) => {
    const count = header.split(delimiter).length;
    const isRow = (row: string): boolean => {
      const cells = row.split(delimiter).length;
      // A quoted cell may contain delimiters.
      return cells === count || (cells > count && row.includes('"'));
    };
    return count > 1 && rows.every(isRow);
  });
  return isTable ? header : undefined;
}

/** Splits a text into lines; each unit includes its line end. */
function splitLines(text: string, maxLength: number): TextUnits {
  const units = new TextUnits(text, maxLength);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) units.add(at + 1);
  return units.finish();
}
