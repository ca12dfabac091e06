import { fileURLToPath } from 'node:url';

import { generateCatalog } from '../data/catalog.mjs';
import { bundleSource } from '../lib/bundle-source.mjs';
import { median, percentile } from '../lib/stats.mjs';

const BATCHES = 15;
const BATCH_SHARE = 1 / BATCHES;
const LOOK_EVERY_MS = 0.5;

/** Measures the hot functions in this process, without sockets, pipes or processes around them. */
export async function micro(_children, { plan }) {
  const { hotFunctions } = await bundleSource('bench/micro/hot-functions.ts');
  const vectors = fileURLToPath(new URL('../../src/catalog/search/data/word-vectors.bin', import.meta.url));
  const rows = [];
  for (const { name, count, run } of hotFunctions(generateCatalog(), vectors)) {
    const times = await batches(run, plan.microMs);
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

/** Milliseconds of one run in each batch, after a warm-up of the same length. */
async function batches(run, totalMs) {
  const once = await batch(run, totalMs, 1);
  const together = Math.max(1, Math.min(1000, Math.round(LOOK_EVERY_MS / once)));
  const times = [];
  for (let index = 0; index < BATCHES; index++) times.push(await batch(run, totalMs * BATCH_SHARE, together));
  return times;
}

/** Makes `together` runs between two readings of the clock, which costs as much as a small function. */
async function batch(run, forMs, together) {
  const begin = performance.now();
  let runs = 0;
  let now = begin;
  while (now - begin < forMs) {
    for (let index = 0; index < together; index++) {
      const value = run();
      if (value instanceof Promise) await value;
    }
    runs += together;
    now = performance.now();
  }
  return (now - begin) / runs;
}

function short(value) {
  return value.toFixed(value >= 10 ? 0 : 2);
}
