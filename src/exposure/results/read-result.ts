import type { Cancellation } from '../../core/lib/cancellation.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { JsonObject } from '../../core/json.ts';
import { findUnits } from './find-units.ts';
import type { UnitMatch } from './find-units.ts';
import { pageUnits } from './page-units.ts';
import { partLabel } from './result-parts.ts';
import { formatReadCall } from './result-preview.ts';
import type { PagedPart, PagedResult } from './paged-result.ts';
import { formatNumber } from './describe-json.ts';

export interface ReadResultRequest {
  readonly id: string;
  readonly offset: number;
  readonly limit?: number | undefined;
  readonly find?: string | undefined;
}

/** The maximum number of matches if the request has no limit. More matches mostly mean a poor search term. */
const DEFAULT_MATCHES = 20;
const MAX_MATCHES = 1_000;
/**
 * A matching unit with at most this many characters is shown whole. Of a longer unit, `CONTEXT_CHARS` on each
 * side of the match are shown.
 */
const MAX_WHOLE_UNIT = 600;
const CONTEXT_CHARS = 200;

/** Returns the unchanged bytes of a page, and a block with its offsets and the call for the next page. */
export function readPage(result: PagedResult, { id, offset, limit = Infinity }: ReadResultRequest): Payload {
  const { total } = result;
  if (offset >= total)
    return createAnswer(
      id,
      [],
      { offset, total },
      `There is nothing from offset ${formatNumber(offset)} on: the result has ${formatNumber(total)} (0 to ${formatNumber(total - 1)}).`,
    );
  const { content, next } = pageUnits(result, offset, limit);
  const at = result.partAt(next);
  const part = result.parts[at];
  const isMember = part !== undefined && at >= result.contentParts && next === part.offset;
  const continuation =
    part === undefined
      ? 'this is the end'
      : isMember
        ? `this is the end of that; ${introduceMember(part)} ${formatReadCall(id, { offset: next })}`
        : `continue with ${formatReadCall(id, { offset: next, ...(limit !== Infinity && { limit }) })}`;
  const range = `Offset ${formatNumber(offset)} to ${formatNumber(next - 1)} of ${formatNumber(isMember ? next : total)}`;
  return createAnswer(
    id,
    content,
    { offset, total, ...(next < total && { next }) },
    `${range}; ${continuation}.`,
  );
}

function introduceMember(part: PagedPart): string {
  return `${partLabel(part)} ${part.isRepeated ? 'repeats the content' : 'begins'} at`;
}

/** Returns each matching unit with its offset in front. */
export async function findInResult(
  result: PagedResult,
  { id, offset, limit = DEFAULT_MATCHES, find = '' }: ReadResultRequest,
  bounds: { readonly cancellation: Cancellation; readonly withinMs: number },
): Promise<Payload> {
  const { total } = result;
  const { matches, total: totalMatches } = await findUnits(result, find, {
    from: offset,
    maxMatches: Math.min(limit, MAX_MATCHES),
    ...bounds,
  });
  const from = offset === 0 ? '' : ` from offset ${formatNumber(offset)} on`;
  if (matches.length === 0) return createAnswer(id, [], { offset, total }, `Nothing matches${from}.`);
  const lines: string[] = [];
  let left = result.budget;
  for (const match of matches) {
    const line = `${match.offset}: ${formatMatch(result, match)}`;
    left -= result.estimate(line, left) + 1;
    if (left < 0 && lines.length > 0) break;
    lines.push(line);
  }
  const last = matches[lines.length - 1]?.offset ?? offset;
  const isAll = lines.length === totalMatches;
  const next = { offset: last + 1, find };
  const more = isAll ? 'these are all' : `continue with ${formatReadCall(id, next)}`;
  const contextHint = `Context of the first match: ${formatReadCall(id, { offset: Math.max(0, (matches[0]?.offset ?? 0) - 5), limit: 10 })}`;
  const text = `${formatNumber(lines.length)} of ${formatNumber(totalMatches)} matches${from}; ${more}. ${contextHint}.`;
  const content = [{ type: 'text', text: lines.join('\n') }];
  return createAnswer(
    id,
    content,
    { offset, total, matches: totalMatches, ...(!isAll && { next: last + 1 }) },
    text,
  );
}

function formatMatch(result: PagedResult, { offset, at, length }: UnitMatch): string {
  const part = result.parts[result.partAt(offset)];
  if (part?.kind !== 'text') return '';
  const unit = part.units.unit(offset - part.offset);
  if (unit.length <= MAX_WHOLE_UNIT) return unit.trimEnd();
  const begin = Math.max(0, at - CONTEXT_CHARS);
  const end = Math.min(unit.length, at + Math.min(length, CONTEXT_CHARS) + CONTEXT_CHARS);
  return `${begin > 0 ? '…' : ''}${trimLoneSurrogates(unit.slice(begin, end)).trimEnd()}${end < unit.length ? '…' : ''}`;
}

/** Removes half of a surrogate pair at either end. */
function trimLoneSurrogates(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]/, '').replace(/[\uD800-\uDBFF]$/, '');
}

function createAnswer(id: string, content: readonly JsonObject[], facts: JsonObject, note: string): Payload {
  return Payload.of({
    content: [...content, { type: 'text', text: `[${note}]` }],
    _meta: { 'trunkline/result': { id, ...facts } },
  });
}
