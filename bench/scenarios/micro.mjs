import { fileURLToPath } from 'node:url';

import { generateCatalog } from '../data/catalog.mjs';
import { bundleSource } from '../lib/bundle-source.mjs';
import { median, percentile } from '../lib/stats.mjs';

const BATCHES = 15;
const BATCH_SHARE = 1 / BATCHES;
const CLOCK_INTERVAL_MS = 0.5;

/** Measures the hot functions in this process, without sockets, pipes or processes around them. */
export async function micro(_children, { plan }) {
  const { hotFunctions } = await bundleSource('bench/micro/hot-functions.ts');
  const vectors = fileURLToPath(new URL('../../src/catalog/search/data/word-vectors.bin', import.meta.url));
  const rows = [];
  for (const { name, count, run } of hotFunctions(generateCatalog(), vectors)) {
    const times = await measureBatches(run, plan.microMs);
    const micros = times.map((ms) => (ms * 1000) / count);
    const [from, to] = [0.25, 0.75].map((share) => percentile(micros, share));
    rows.push({ name, micros: median(micros), half: `${short(from)}–${short(to)}` });
  }
  const title = 'Hot functions in this process, µs of one run; (half) is the middle half of 15 batches';
  return { tables: [{ id: 'micro', title, columns: COLUMNS, rows }] };
}

const COLUMNS = [
  { key: 'micros', title: 'µs', kind: 'figure' },
  { key: 'half', title: '(half)', kind: 'text' },
];

/** Returns the milliseconds of one run, once for each batch. A warm-up comes first and takes as long as all batches together. */
async function measureBatches(run, totalMs) {
  const runMs = await measureBatch(run, totalMs, 1);
  const runsPerReading = Math.max(1, Math.min(1000, Math.round(CLOCK_INTERVAL_MS / runMs)));
  const times = [];
  for (let index = 0; index < BATCHES; index++)
    times.push(await measureBatch(run, totalMs * BATCH_SHARE, runsPerReading));
  return times;
}

/**
 * Returns the mean milliseconds of one run. Reads the clock only after every `runsPerReading` runs, because a reading costs as much as a
 * small function.
 */
async function measureBatch(run, durationMs, runsPerReading) {
  const begin = performance.now();
  let runs = 0;
  let now = begin;
  while (now - begin < durationMs) {
    for (let index = 0; index < runsPerReading; index++) {
      const value = run();
      if (value instanceof Promise) await value;
    }
    runs += runsPerReading;
    now = performance.now();
  }
  return (now - begin) / runs;
}

function short(value) {
  return value.toFixed(value >= 10 ? 0 : 2);
}
