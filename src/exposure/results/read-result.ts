import type { Cancellation } from '../../core/lib/cancellation.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { JsonObject } from '../../core/json.ts';
import { findUnits } from './find-units.ts';
import type { FindReading, UnitMatch } from './find-units.ts';
import { pageUnits, repeatedHeader } from './page-units.ts';
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
/** The number of units that are shown before a match in its context. */
const CONTEXT_UNITS = 5;

/** Returns the unchanged bytes of a page, and a block with its offsets and the call for the next page. */
export function readPage(result: PagedResult, { id, offset, limit = Infinity }: ReadResultRequest): Payload {
  const { total } = result;
  if (offset >= total)
    return createAnswer(
      id,
      [],
      { offset, total },
      `There is nothing at offset ${formatNumber(offset)}: the last offset of the result is ${formatNumber(total - 1)}.`,
    );
  const { content, next } = pageUnits(result, offset, limit);
  const at = result.partAt(next);
  const part = result.parts[at];
  const isMember = part !== undefined && at >= result.contentParts && next === part.offset;
  const continuation =
    part === undefined
      ? 'this is the end'
      : isMember
        ? `this part ends here; ${introduceMember(part)} ${formatReadCall(id, { offset: next })}`
        : `continue with ${formatReadCall(id, { offset: next, limit: limit === Infinity ? undefined : limit })}`;
  const range = `Offset ${formatNumber(offset)} to ${formatNumber(next - 1)} of ${formatNumber(isMember ? next : total)}`;
  return createAnswer(
    id,
    content,
    { offset, total, next: next < total ? next : undefined },
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
  const {
    matches,
    total: totalMatches,
    reading,
  } = await findUnits(result, find, {
    from: offset,
    maxMatches: Math.min(limit, MAX_MATCHES),
    ...bounds,
  });
  const from = offset === 0 ? '' : ` from offset ${formatNumber(offset)} on`;
  const readAs = READINGS[reading];
  if (matches.length === 0) {
    const note = `Nothing matches${from}: find was read as ${readAs}, and each line or record was searched by itself.`;
    return createAnswer(id, [], { offset, total }, note);
  }
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
  const contextHint = `Context of the first match: ${formatReadCall(id, contextOf(result, matches[0]?.offset ?? 0))}`;
  const how = reading === 'text' || reading === 'expression' ? '' : ` (find was read as ${readAs})`;
  const text = `${formatNumber(lines.length)} of ${formatNumber(totalMatches)} matches${from}${how}; ${more}. ${contextHint}.`;
  const header = repeatedHeader(result, matches[0]?.offset ?? 0);
  const content = [{ type: 'text', text: [...(header === undefined ? [] : [header]), ...lines].join('\n') }];
  return createAnswer(
    id,
    content,
    { offset, total, matches: totalMatches, next: isAll ? undefined : last + 1 },
    text,
  );
}

const READINGS: Readonly<Record<FindReading, string>> = {
  text: 'plain text, ignoring case',
  expression: 'a regular expression',
  'text and expression': 'plain text and as a regular expression, ignoring case',
  'text, because the expression took too long':
    'plain text, because it took too long as a regular expression',
};

/** Returns the offsets of a page around a unit. The units before it take at most half of the page, so that the page contains the unit. */
function contextOf(result: PagedResult, offset: number): { readonly offset: number; readonly limit: number } {
  const part = result.parts[result.partAt(offset)];
  let first = offset;
  let left = result.budget / 2;
  if (part?.kind === 'text')
    while (first > part.offset && offset - first < CONTEXT_UNITS) {
      left -= result.estimate(part.units.unit(first - 1 - part.offset), left);
      if (left < 0) break;
      first -= 1;
    }
  return { offset: first, limit: 2 * CONTEXT_UNITS };
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
