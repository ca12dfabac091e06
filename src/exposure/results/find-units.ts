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

/**
 * Finds the units that contain a text, ignoring case, or that match a `/regular expression/`. The search runs in its own thread,
 * because a regular expression can run forever and only a thread can be stopped after `withinMs`.
 */
export async function findUnits(
  result: PagedResult,
  find: string,
  { from, maxMatches, cancellation, withinMs }: FindOptions,
): Promise<{ readonly matches: readonly UnitMatch[]; readonly total: number }> {
  const { source, flags } = parsePattern(find);
  const parts = result.parts.flatMap((part) =>
    part.kind === 'text' && !part.isRepeated
      ? [{ text: part.text, ends: part.units.ends, offset: part.offset }]
      : [],
  );
  const worker = new Worker(WORKER_SOURCE, {
    eval: true,
    workerData: { parts, source, flags, from, maxMatches },
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(tooSlow(withinMs))), withinMs);
    const onCancel = (reason: Error): void => end(() => reject(reason));
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      cancellation.offCancel(onCancel);
      settle();
      void worker.terminate();
    };
    cancellation.onCancel(onCancel);
    worker.once('message', (found: { matches: readonly UnitMatch[]; total: number }) =>
      end(() => resolve(found)),
    );
    worker.once('error', (error) => end(() => reject(error)));
  });
}

function parsePattern(find: string): { readonly source: string; readonly flags: string } {
  if (find.length > MAX_PATTERN) throw invalidFind(`must not be longer than ${MAX_PATTERN} characters`);
  const [, source, flags = ''] = REGEX_LITERAL.exec(find) ?? [];
  if (source === undefined)
    return { source: find.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`), flags: 'i' };
  try {
    return { source: new RegExp(source, flags).source, flags };
  } catch (error) {
    throw invalidFind(
      `is not a valid regular expression: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function invalidFind(problem: string): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', `find ${problem}.`);
}

function tooSlow(withinMs: number): GatewayError {
  return invalidFind(`took longer than ${withinMs / 1000} s; look for a plain text or a simpler expression`);
}

/** The worker is a string, because a separate file would need two paths: one in the bundle and one in the source tree. */
const WORKER_SOURCE = `
const { parentPort, workerData } = require('node:worker_threads');
const { parts, source, flags, from, maxMatches } = workerData;
const pattern = new RegExp(source, flags);
const matches = [];
let total = 0;
for (const { text, ends, offset } of parts) {
  for (let unit = Math.max(0, from - offset); unit < ends.length; unit += 1) {
    const found = pattern.exec(text.slice(unit === 0 ? 0 : ends[unit - 1], ends[unit]));
    if (found === null) continue;
    total += 1;
    if (matches.length < maxMatches) matches.push({ offset: offset + unit, at: found.index, length: found[0].length });
  }
}
parentPort.postMessage({ matches, total });
`;
