import type { JsonObject } from '../../core/json.ts';
import { estimateMediaTokens } from './media.ts';
import type { PagedPart, PagedResult } from './paged-result.ts';

/** Tokens that a block costs besides its text. */
const BLOCK_TOKENS = 10;

export interface PageOfUnits {
  readonly content: readonly JsonObject[];
  /** The offset of the first unit after the page. */
  readonly next: number;
}

/** Returns as many units as fit, starting at an offset. A page of content does not continue into other members of the result. */
export function pageUnits(result: PagedResult, offset: number, limit: number): PageOfUnits {
  const content: JsonObject[] = [];
  let left = result.budget;
  let next = offset;
  const last = offset + limit;
  let at = result.partAt(offset);
  // `end` is the part before which the page ends.
  const end = at < result.contentParts ? result.contentParts : at + 1;
  const header = repeatedHeader(result, offset);
  if (header !== undefined) left -= result.estimate(header);
  for (let part = result.parts[at]; part !== undefined && at < end && next < last; part = result.parts[at]) {
    const room = content.length === 0 ? Math.max(left, BLOCK_TOKENS) : left - BLOCK_TOKENS;
    const taken = takeUnits(part, { from: next - part.offset, maxUnits: last - next, room, result });
    // The first block is always included: only a block that cannot be split is longer than a page.
    if (taken === undefined || (taken.tokens > room && content.length > 0)) break;
    content.push(taken.block);
    next += taken.count;
    left = room - taken.tokens;
    if (next < part.offset + part.count) break;
    at += 1;
  }
  return { content: header === undefined ? content : [{ type: 'text', text: header }, ...content], next };
}

/** Returns the header of the table that contains an offset, unless the offset is that of the header itself. */
export function repeatedHeader(result: PagedResult, offset: number): string | undefined {
  const part = result.parts[result.partAt(offset)];
  return part?.kind === 'text' && part.header !== undefined && offset > part.offset
    ? `[Columns: ${part.header}]`
    : undefined;
}

interface TakeOptions {
  /** The index of the first unit within the part. */
  readonly from: number;
  readonly maxUnits: number;
  /** The number of tokens that may be used. */
  readonly room: number;
  readonly result: PagedResult;
}

interface UnitBlock {
  readonly block: JsonObject;
  readonly count: number;
  readonly tokens: number;
}

/** Returns as many units of one part as there is room for, as one block; undefined if not even one fits. Media ignore `room`. */
export function takeUnits(
  part: PagedPart,
  { from, maxUnits, room, result }: TakeOptions,
): UnitBlock | undefined {
  const { estimate, budget } = result;
  if (part.kind === 'media') {
    const tokens = estimateMediaTokens(part.media, budget);
    return { block: withPointer(part.value, part.pointer), count: 1, tokens };
  }
  const { units } = part;
  let [unit, tokens] = [from, 0];
  while (unit < units.count && unit - from < maxUnits) {
    const cost = estimate(units.unit(unit));
    if (tokens + cost > room) break;
    tokens += cost;
    unit += 1;
  }
  if (unit === from) return undefined;
  const text = units.text.slice(units.start(from), units.start(unit));
  return { block: withPointer(part.toBlock(text), part.pointer), count: unit - from, tokens };
}

/** Adds the JSON pointer of a block in the result, for programs that reassemble the result. */
function withPointer(block: JsonObject, pointer: string): JsonObject {
  const { _meta: meta } = block;
  return { ...block, _meta: { ...(meta as JsonObject | undefined), 'trunkline/from': pointer } };
}
