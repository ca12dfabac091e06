import type { JsonObject } from '../model/json.ts';
import { mediaTokens } from './media.ts';
import type { ReadPart, Reading } from './reading.ts';

/** What a block costs besides its text. */
const BLOCK_TOKENS = 10;

export interface Page {
  readonly content: readonly JsonObject[];
  /** The first unit that is not in it. */
  readonly next: number;
}

/** Units from an offset on, as many as fit; from content it does not go on into other members of the result. */
export function pageOf(reading: Reading, offset: number, limit: number): Page {
  const content: JsonObject[] = [];
  let left = reading.budget;
  let next = offset;
  const last = offset + limit;
  let at = reading.partAt(offset);
  const end = at < reading.contentParts ? reading.contentParts : at + 1;
  for (
    let part = reading.parts[at];
    part !== undefined && at < end && next < last;
    part = reading.parts[at]
  ) {
    const room = content.length === 0 ? Math.max(left, BLOCK_TOKENS) : left - BLOCK_TOKENS;
    const taken = take(part, { from: next - part.offset, most: last - next, room, reading });
    // The first thing is always shown: nothing is longer than a page, except what cannot be cut.
    if (taken === undefined || (taken.tokens > room && content.length > 0)) break;
    content.push(taken.block);
    next += taken.count;
    left = room - taken.tokens;
    if (next < part.offset + part.count) break;
    at += 1;
  }
  return { content, next };
}

interface TakeOptions {
  /** The first unit, within the part. */
  readonly from: number;
  readonly most: number;
  readonly room: number;
  readonly reading: Reading;
}

interface Taken {
  readonly block: JsonObject;
  readonly count: number;
  readonly tokens: number;
}

/** Units of one part as one block, as many as there is room for; undefined where there is none. */
export function take(part: ReadPart, { from, most, room, reading }: TakeOptions): Taken | undefined {
  const { estimate, budget } = reading;
  if (part.kind === 'whole') {
    const tokens = mediaTokens(part.media, budget);
    return { block: marked(part.value, part.pointer), count: 1, tokens };
  }
  const { cuts } = part;
  let [unit, tokens] = [from, 0];
  while (unit < cuts.count && unit - from < most) {
    const cost = estimate(cuts.unit(unit));
    if (tokens + cost > room) break;
    tokens += cost;
    unit += 1;
  }
  if (unit === from) return undefined;
  const text = cuts.text.slice(cuts.start(from), cuts.start(unit));
  return { block: marked(part.block(text), part.pointer), count: unit - from, tokens };
}

/** Says where in the result a block is from, for programs that put it together again. */
function marked(block: JsonObject, pointer: string): JsonObject {
  const { _meta: meta } = block;
  return { ...block, _meta: { ...(meta as JsonObject | undefined), 'trunkline/from': pointer } };
}
