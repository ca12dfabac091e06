import { Worker } from 'node:worker_threads';
import type { Cancellation } from '../lib/cancellation.ts';
import { GatewayError } from '../model/errors.ts';
import type { Reading } from './reading.ts';

const MAX_PATTERN = 1_000;
const AS_PATTERN = /^\/(.+)\/([imsu]*)$/s;

export interface Hit {
  /** Its offset in the result. */
  readonly offset: number;
  /** Where in the unit, and how long. */
  readonly at: number;
  readonly length: number;
}

interface FindOptions {
  readonly from: number;
  readonly most: number;
  readonly cancellation: Cancellation;
  readonly withinMs: number;
}

/** Units that have a text, in either case, or match `/a regular expression/`. In a thread of its own, which ends when it takes long. */
export async function findUnits(
  reading: Reading,
  find: string,
  { from, most, cancellation, withinMs }: FindOptions,
): Promise<{ readonly hits: readonly Hit[]; readonly total: number }> {
  const { source, flags } = patternOf(find);
  const parts = reading.parts.flatMap((part) =>
    part.kind === 'text' && !part.isRepeated
      ? [{ text: part.text, ends: part.cuts.ends, offset: part.offset }]
      : [],
  );
  const worker = new Worker(SOURCE, { eval: true, workerData: { parts, source, flags, from, most } });
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
    worker.once('message', (found: { hits: readonly Hit[]; total: number }) => end(() => resolve(found)));
    worker.once('error', (error) => end(() => reject(error)));
  });
}

function patternOf(find: string): { readonly source: string; readonly flags: string } {
  if (find.length > MAX_PATTERN) throw wrong(`must not be longer than ${MAX_PATTERN} characters`);
  const [, source, flags = ''] = AS_PATTERN.exec(find) ?? [];
  if (source === undefined)
    return { source: find.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`), flags: 'i' };
  try {
    return { source: new RegExp(source, flags).source, flags };
  } catch (error) {
    throw wrong(`is no regular expression: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function wrong(what: string): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', `find ${what}.`);
}

function tooSlow(withinMs: number): GatewayError {
  return wrong(`took longer than ${withinMs / 1000} s; look for a plain text or a simpler expression`);
}

/** As a text, since a file of its own would have to be found in the bundle as well as in the source. */
const SOURCE = `
const { parentPort, workerData } = require('node:worker_threads');
const { parts, source, flags, from, most } = workerData;
const pattern = new RegExp(source, flags);
const hits = [];
let total = 0;
for (const { text, ends, offset } of parts) {
  for (let unit = Math.max(0, from - offset); unit < ends.length; unit += 1) {
    const found = pattern.exec(text.slice(unit === 0 ? 0 : ends[unit - 1], ends[unit]));
    if (found === null) continue;
    total += 1;
    if (hits.length < most) hits.push({ offset: offset + unit, at: found.index, length: found[0].length });
  }
}
parentPort.postMessage({ hits, total });
`;
