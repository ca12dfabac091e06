import type { Cancellation } from '../lib/cancellation.ts';
import { Payload } from '../lib/payload.ts';
import type { JsonObject } from '../model/json.ts';
import { findUnits } from './find-units.ts';
import type { Hit } from './find-units.ts';
import { pageOf } from './page.ts';
import { nameOf } from './parts.ts';
import { callOf } from './preview.ts';
import type { ReadPart, Reading } from './reading.ts';
import { count } from './shape.ts';

export interface ReadRequest {
  readonly id: string;
  readonly offset: number;
  readonly limit?: number;
  readonly find?: string;
}

/** Matches that are shown unless a limit is given; more than that is mostly a wrong question. */
const DEFAULT_HITS = 20;
const MAX_HITS = 1_000;
/** Characters of a unit with a match that are shown whole, and of what is around the match otherwise. */
const MAX_SHOWN = 600;
const AROUND = 200;

/** The bytes of a page as they are, and in a block of its own what they are and how to go on. */
export function readPage(reading: Reading, { id, offset, limit = Infinity }: ReadRequest): Payload {
  const { total } = reading;
  if (offset >= total)
    return answer(
      id,
      [],
      { offset, total },
      `There is nothing from offset ${count(offset)} on: the result has ${count(total)} (0 to ${count(total - 1)}).`,
    );
  const { content, next } = pageOf(reading, offset, limit);
  const at = reading.partAt(next);
  const part = reading.parts[at];
  const isMember = part !== undefined && at >= reading.contentParts && next === part.offset;
  const goOn =
    part === undefined
      ? 'this is the end'
      : isMember
        ? `this is the end of that; ${memberOf(part)} ${callOf(id, { offset: next })}`
        : `go on with ${callOf(id, { offset: next, ...(limit !== Infinity && { limit }) })}`;
  const what = `Offset ${count(offset)} to ${count(next - 1)} of ${count(isMember ? next : total)}`;
  return answer(id, content, { offset, total, ...(next < total && { next }) }, `${what}; ${goOn}.`);
}

function memberOf(part: ReadPart): string {
  return `${nameOf(part)} ${part.isRepeated ? 'says the same again' : 'begins'} at`;
}

/** Each unit that matches, after its offset. */
export async function findInResult(
  reading: Reading,
  { id, offset, limit = DEFAULT_HITS, find = '' }: ReadRequest,
  bounds: { readonly cancellation: Cancellation; readonly withinMs: number },
): Promise<Payload> {
  const { total } = reading;
  const { hits, total: matches } = await findUnits(reading, find, {
    from: offset,
    most: Math.min(limit, MAX_HITS),
    ...bounds,
  });
  const from = offset === 0 ? '' : ` from offset ${count(offset)} on`;
  if (hits.length === 0) return answer(id, [], { offset, total }, `Nothing matches${from}.`);
  const lines: string[] = [];
  let left = reading.budget;
  for (const hit of hits) {
    const line = `${hit.offset}: ${shown(reading, hit)}`;
    left -= reading.estimate(line, left) + 1;
    if (left < 0 && lines.length > 0) break;
    lines.push(line);
  }
  const last = hits[lines.length - 1]?.offset ?? offset;
  const isAll = lines.length === matches;
  const next = { offset: last + 1, find };
  const more = isAll ? 'these are all' : `go on with ${callOf(id, next)}`;
  const read = `What is around one: ${callOf(id, { offset: Math.max(0, (hits[0]?.offset ?? 0) - 5), limit: 10 })}`;
  const text = `${count(lines.length)} of ${count(matches)} matches${from}; ${more}. ${read}.`;
  const content = [{ type: 'text', text: lines.join('\n') }];
  return answer(id, content, { offset, total, matches, ...(!isAll && { next: last + 1 }) }, text);
}

function shown(reading: Reading, { offset, at, length }: Hit): string {
  const part = reading.parts[reading.partAt(offset)];
  if (part?.kind !== 'text') return '';
  const unit = part.cuts.unit(offset - part.offset);
  if (unit.length <= MAX_SHOWN) return unit.trimEnd();
  const begin = Math.max(0, at - AROUND);
  const end = Math.min(unit.length, at + Math.min(length, AROUND) + AROUND);
  return `${begin > 0 ? '…' : ''}${wellFormed(unit.slice(begin, end)).trimEnd()}${end < unit.length ? '…' : ''}`;
}

/** Without halves of characters at its ends. */
function wellFormed(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]/, '').replace(/[\uD800-\uDBFF]$/, '');
}

function answer(id: string, content: readonly JsonObject[], facts: JsonObject, note: string): Payload {
  return Payload.of({
    content: [...content, { type: 'text', text: `[${note}]` }],
    _meta: { 'trunkline/result': { id, ...facts } },
  });
}
