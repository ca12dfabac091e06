import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { parseExact, stringifyExact } from '../lib/exact-json.ts';
import { cutLines } from './cut-lines.ts';
import { cutRecords } from './cut-records.ts';
import type { Cuts } from './cuts.ts';
import { blockPart, jsonPart } from './parts.ts';
import type { Part } from './parts.ts';
import type { Estimate } from './result-cost.ts';
import { repeats } from './repeats.ts';
import { shapeOf } from './shape.ts';

export interface ReadingOptions {
  readonly maxTokens: number;
  readonly estimate: Estimate;
}

/** A part with the units it is read in; offsets count the units of all parts. */
export type ReadPart = {
  readonly offset: number;
  readonly count: number;
  /** Whether it only says again what the content says. */
  readonly isRepeated: boolean;
} & (
  | (Extract<Part, { kind: 'text' }> & {
      readonly cuts: Cuts;
      readonly unit: 'line' | 'record';
      /** What JSON it is, in a few words. */
      readonly shape?: string;
    })
  | Extract<Part, { kind: 'whole' }>
);

/** Tokens of a page that are kept for what we say about it. */
const NOTE_TOKENS = 150;
/** The share of a preview that members of a result may take to stay as they are. */
const MEMBERS_SHARE = 8;
/** Members that are no part of what was answered, or of which the answer must have its own. */
const STAY: ReadonlySet<string> = new Set(['resultType', 'isError', 'ttlMs', 'cacheScope']);

/** A kept result, cut into units that each fit into an answer. */
export class Reading {
  readonly parts: readonly ReadPart[];
  /** Members that are small and stay in the answer to the call. */
  readonly members: JsonObject;
  readonly total: number;
  /** How many parts are content; the others are members. */
  readonly contentParts: number;
  /** Tokens that a page may have. */
  readonly budget: number;
  readonly estimate: Estimate;

  constructor(text: string, { maxTokens, estimate }: ReadingOptions) {
    const result = parseExact(text);
    const { content: given, ...rest } = isJsonObject(result) ? result : {};
    const blocks: readonly unknown[] = Array.isArray(given) ? given : [];
    const { members, large } = separate(rest, { left: maxTokens / MEMBERS_SHARE, estimate });
    this.budget = maxTokens - NOTE_TOKENS;
    this.estimate = estimate;
    this.members = members;
    this.contentParts = blocks.length;
    let total = 0;
    const content = blocks.map(blockPart);
    const texts = content.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
    const [name, value] = ['/structuredContent', rest['structuredContent']];
    const isRepeated = large.some(({ pointer }) => pointer === name) && repeats(value, texts);
    this.parts = [...content, ...large].map((part) => {
      const placed = { offset: total, isRepeated: isRepeated && part.pointer === name };
      const read = readPart(part, placed, this.budget);
      total += read.count;
      return read;
    });
    this.total = total;
  }

  /** The index of the part that has this offset; one behind the last if none has. */
  partAt(offset: number): number {
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

function readPart(part: Part, placed: Pick<ReadPart, 'offset' | 'isRepeated'>, most: number): ReadPart {
  if (part.kind === 'whole') return { ...part, ...placed, count: 1 };
  const shape = shapeOf(part.text);
  const cuts = shape === undefined ? cutLines(part.text, most) : cutRecords(part.text, most);
  const common = { ...part, ...placed, count: cuts.count, cuts };
  return shape === undefined ? { ...common, unit: 'line' } : { ...common, unit: 'record', shape };
}

/** Small members go with the answer, large ones are parts of their own. */
function separate(
  members: JsonObject,
  { left, estimate }: { readonly left: number; readonly estimate: Estimate },
): { readonly members: JsonObject; readonly large: readonly Part[] } {
  const small: [string, unknown][] = [];
  const large: Part[] = [];
  let budget = left;
  for (const [name, value] of Object.entries(members)) {
    const cost = STAY.has(name) ? 0 : estimate(stringifyExact(value), budget);
    if (cost <= budget) {
      budget -= cost;
      small.push([name, value]);
    } else large.push(jsonPart(`/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, value));
  }
  return { members: Object.fromEntries(small), large };
}
