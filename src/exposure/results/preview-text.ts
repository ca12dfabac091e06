import type { JsonObject } from '../../core/json.ts';
import { formatNumber } from './describe-json.ts';
import { takeUnits } from './page-units.ts';
import type { PagedPart, PagedResult } from './paged-result.ts';

type TextPart = Extract<PagedPart, { kind: 'text' }>;

export interface TextPreview {
  readonly blocks: readonly JsonObject[];
  /** The number of whole units at the beginning that are shown. */
  readonly count: number;
  readonly tokens: number;
  readonly isWhole: boolean;
  readonly description: string;
}

/** The shares of a log's preview for its first and its last lines. The rest is for the errors in between. */
const HEAD_SHARE = 0.4;
const TAIL_SHARE = 0.3;
/** Only a text with this many lines can be a log. */
const MIN_LOG_LINES = 30;
/** The lines at the beginning and at the end from which a log is recognized. */
const SAMPLE_LINES = 40;
/** The number of characters before the tail that are searched for errors. A longer search would delay other calls. */
const MAX_SEARCHED_CHARS = 300_000;
const MAX_ERROR_LINES = 10;
const MAX_LINE_CHARS = 300;
/** Tokens that are reserved for the labels of excerpts. */
const LABEL_TOKENS = 30;

const LOG_LINE =
  /^\W{0,3}(?:\d{4}-\d\d-\d\d|\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:)|\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL)\b/;
const ERROR_LINE =
  /\b(?:error|err!|fail|failed|failure|fatal|panic|critical|exception|traceback|denied|unhandled)\b|[a-z](?:Error|Exception)\b/i;

/** Shows the beginning of a text. For a log, it also shows the last lines, and the lines in between that look like errors. */
export function previewText(part: TextPart, room: number, result: PagedResult): TextPreview {
  const beginning = takeBeginning(part, room, result);
  if (beginning.isWhole || !isLog(part)) return beginning;
  const head = takeBeginning(part, room * HEAD_SHARE, result);
  const from = tailStart(part, head.count, { room: room * TAIL_SHARE, result });
  const errors = findErrors(part, { from: head.count, to: from });
  const lines: string[] = [];
  let left = room - head.tokens - room * TAIL_SHARE - LABEL_TOKENS;
  for (const line of errors) {
    left -= result.estimate(line);
    if (left < 0) break;
    lines.push(line);
  }
  const total = part.count;
  const { units } = part;
  const tail = from < total ? units.text.slice(units.start(from)) : '';
  const excerpt = [
    ...(lines.length === 0 ? [] : ['[Lines in between that look like errors, by offset]', ...lines]),
    ...(tail === '' ? [] : [`[The last ${formatNumber(total - from)} lines, from offset ${from}]`, tail]),
  ].join('\n');
  if (excerpt === '') return beginning;
  return {
    ...head,
    blocks: [...head.blocks, { type: 'text', text: excerpt }],
    tokens: head.tokens + result.estimate(excerpt),
    description: `the first ${formatNumber(head.count)} and the last ${formatNumber(total - from)} of ${countUnits(part)} are shown`,
  };
}

export function countUnits({ count: number, unit }: TextPart): string {
  return `${formatNumber(number)} ${unit}${number === 1 ? '' : 's'}`;
}

function takeBeginning(part: TextPart, room: number, result: PagedResult): TextPreview {
  const taken = takeUnits(part, { from: 0, maxUnits: Infinity, room, result });
  const { units } = part;
  const text =
    taken === undefined ? firstChars(units.unit(0), room) : units.text.slice(0, units.start(taken.count));
  return {
    blocks: [part.toBlock(text)],
    count: taken?.count ?? 0,
    tokens: taken?.tokens ?? result.estimate(text),
    isWhole: taken?.count === part.count,
    description:
      taken === undefined
        ? `the beginning of the first ${part.unit} is shown`
        : `the first ${formatNumber(taken.count)} of ${countUnits(part)} are shown`,
  };
}

/** Returns as many characters as there are tokens left, because no character costs more than one token. */
function firstChars(text: string, room: number): string {
  const cut = text.slice(0, room);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** Whether many lines have a time or a level, or the last lines contain an error, as in the output of a build. */
function isLog(part: TextPart): boolean {
  if (part.unit !== 'line' || part.header !== undefined || part.count < MIN_LOG_LINES) return false;
  const line = (at: number): string => part.units.unit(at).slice(0, MAX_LINE_CHARS);
  const first = Array.from({ length: SAMPLE_LINES }, (_, at) => line(at));
  const last = Array.from({ length: SAMPLE_LINES }, (_, at) => line(Math.max(0, part.count - 1 - at)));
  return (
    first.filter((text) => LOG_LINE.test(text)).length > SAMPLE_LINES / 3 ||
    last.some((text) => ERROR_LINE.test(text))
  );
}

function tailStart(
  part: TextPart,
  first: number,
  { room, result }: { readonly room: number; readonly result: PagedResult },
): number {
  let left = room;
  let at = part.count;
  while (at > first) {
    left -= result.estimate(part.units.unit(at - 1), left);
    if (left < 0) break;
    at -= 1;
  }
  return at;
}

/** Returns the last lines of a range that look like errors, each with its offset. */
function findErrors(
  part: TextPart,
  { from, to }: { readonly from: number; readonly to: number },
): readonly string[] {
  const found: string[] = [];
  const end = part.units.start(to);
  for (let at = to - 1; at >= from && found.length < MAX_ERROR_LINES; at -= 1) {
    if (end - part.units.start(at) > MAX_SEARCHED_CHARS) break;
    const line = part.units.unit(at).slice(0, MAX_LINE_CHARS);
    if (ERROR_LINE.test(line)) found.push(`${part.offset + at}: ${line.trimEnd()}`);
  }
  return found.toReversed();
}
