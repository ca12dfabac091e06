import { Worker } from 'node:worker_threads';
import type { Cancellation } from '../../core/lib/cancellation.ts';
import { GatewayError } from '../../core/errors.ts';
import type { PagedResult } from './paged-result.ts';

const MAX_PATTERN = 1_000;
/** Excludes the flags `g` and `y`, which make a match depend on the previous one. */
const REGEX_LITERAL = /^\/(.+)\/([imsu]*)$/s;

export interface UnitMatch {
  /** The offset of the unit in the result. */
  readonly offset: number;
  /** The position of the match in the unit. */
  readonly at: number;
  readonly length: number;
}

interface FindOptions {
  readonly from: number;
  readonly maxMatches: number;
  readonly cancellation: Cancellation;
  /** The maximum duration; a slower search is rejected. */
  readonly withinMs: number;
}

/** How `find` was read, for the answer to the model. */
export type FindReading =
  | 'text'
  | 'expression'
  | 'text and expression'
  | 'text, because the expression took too long';

export interface UnitMatches {
  readonly matches: readonly UnitMatch[];
  readonly total: number;
  readonly reading: FindReading;
}

/**
 * Finds the units that match a `/regular expression/` or contain a text. A text with special characters of regular expressions is searched
 * as both, because models write `error|fail` and mean either. Case is ignored unless an expression has flags. The search runs in its own
 * thread, because a regular expression can run forever and only a thread can be stopped after `withinMs`.
 */
export async function findUnits(
  result: PagedResult,
  find: string,
  options: FindOptions,
): Promise<UnitMatches> {
  const pattern = parsePattern(find);
  try {
    return await search(result, pattern, options);
  } catch (error) {
    if (!(error instanceof TooSlowError)) throw error;
    if (pattern.reading !== 'text and expression') throw tooSlow(options.withinMs);
    // A plain text takes linear time, so this search ends even on a busy machine.
    const found = await search(result, toText(find), { ...options, withinMs: 10 * options.withinMs });
    return { ...found, reading: 'text, because the expression took too long' };
  }
}

class TooSlowError extends Error {}

interface Pattern {
  readonly source: string;
  /** Also searched for, unless it matches everything. Only the worker tests that, because the test can run forever. */
  readonly expression?: string;
  readonly flags: string;
  readonly reading: FindReading;
}

function search(
  result: PagedResult,
  { source, expression, flags, reading }: Pattern,
  { from, maxMatches, cancellation, withinMs }: FindOptions,
): Promise<UnitMatches> {
  const parts = result.parts.flatMap((part) =>
    part.kind === 'text' && !part.isRepeated
      ? [{ text: part.text, ends: part.units.ends, offset: part.offset }]
      : [],
  );
  const worker = new Worker(WORKER_SOURCE, {
    eval: true,
    workerData: { parts, source, expression, flags, from, maxMatches, overlap: MAX_PATTERN },
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(new TooSlowError())), withinMs);
    const onCancel = (reason: Error): void => end(() => reject(reason));
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      cancellation.offCancel(onCancel);
      settle();
      void worker.terminate();
    };
    cancellation.onCancel(onCancel);
    worker.once('message', ({ isCombined, ...found }: FoundByWorker) =>
      end(() => resolve({ ...found, reading: expression === undefined || isCombined ? reading : 'text' })),
    );
    // An expression can also need too much stack or memory.
    worker.once('error', () => end(() => reject(new TooSlowError())));
  });
}

interface FoundByWorker extends Pick<UnitMatches, 'matches' | 'total'> {
  readonly isCombined: boolean;
}

const SPECIAL_CHARACTERS = /[$()*+.?[\\\]^{|}]/;

function parsePattern(find: string): Pattern {
  if (find.length > MAX_PATTERN) throw invalidFind(`must not be longer than ${MAX_PATTERN} characters`);
  const [, source, flags = ''] = REGEX_LITERAL.exec(find) ?? [];
  if (source === undefined) {
    const text = toText(find);
    if (!SPECIAL_CHARACTERS.test(find) || !isExpression(find)) return text;
    return { ...text, expression: find, reading: 'text and expression' };
  }
  try {
    return { source: new RegExp(source, flags).source, flags: flags || 'i', reading: 'expression' };
  } catch (error) {
    throw invalidFind(
      `is not a valid regular expression: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function toText(find: string): Pattern {
  const source = find.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return { source, flags: 'i', reading: 'text' };
}

function isExpression(source: string): boolean {
  try {
    RegExp(source, 'i');
    return true;
  } catch {
    return false; // It is read as text only.
  }
}

function invalidFind(problem: string): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', `find ${problem}.`);
}

function tooSlow(withinMs: number): GatewayError {
  return invalidFind(
    `took longer than ${withinMs / 1000} s or too much memory; look for a plain text or a simpler expression`,
  );
}

/** The worker is a string, because a separate file would need two paths: one in the bundle and one in the source tree. */
const WORKER_SOURCE = `
const { parentPort, workerData } = require('node:worker_threads');
const { parts, source, expression, flags, from, maxMatches, overlap } = workerData;
const isCombined = expression !== undefined && !new RegExp(expression, flags).test('');
const pattern = new RegExp(isCombined ? source + '|(?:' + expression + ')' : source, flags);
const matches = [];
let total = 0;
for (const { text, ends, offset } of parts) {
  for (let unit = Math.max(0, from - offset); unit < ends.length; unit += 1) {
    const begin = unit === 0 ? 0 : ends[unit - 1];
    const end = ends[unit];
    // A match may continue in the next piece of a long line.
    const isCut = end < text.length && text.charCodeAt(end - 1) !== 10;
    const found = pattern.exec(text.slice(begin, isCut ? end + overlap : end));
    if (found === null || (found.index >= end - begin && end > begin)) continue;
    total += 1;
    if (matches.length < maxMatches) matches.push({ offset: offset + unit, at: found.index, length: found[0].length });
  }
}
parentPort.postMessage({ matches, total, isCombined });
`;
