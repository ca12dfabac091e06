// Search: how good on the development sets, how fast and how big on the real catalog and on a tenfold one.
//   node bench/search/run.mjs [--json FILE] [--per-query FILE] [--without-vectors] [--only quality|speed]
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { scoreQuery } from '../retrieval/shared/eval.mjs';
import { bundleSearch, readSet, sourceOf } from '../retrieval/in-process.mjs';
import { catalogSource } from './catalog.mjs';
import { measureSpeed } from './speed.mjs';

const SETS = [
  'livemcp-agent',
  'livemcp-step',
  'livemcp-task',
  'mcpproxy-golden',
  'metatool',
  'seal-tools',
  'toolbench',
];
const METRICS = ['R@1', 'R@5', 'R@10', 'MRR'];
/** For the mean over sets that are kept back; the development halves are the easier ones. */
const MEAN_GOAL = { 'R@1': 0.44, 'R@5': 0.76, 'R@10': 0.83, MRR: 0.72 };
const SET_GOALS = {
  'livemcp-agent': { 'R@5': 0.74, MRR: 0.65 },
  'livemcp-step': { 'R@5': 0.84, MRR: 0.74 },
  'livemcp-task': { 'R@5': 0.42, MRR: 0.52 },
  'mcpproxy-golden': { 'R@5': 0.84, MRR: 0.72 },
  metatool: { 'R@5': 0.74, MRR: 0.59 },
  'seal-tools': { 'R@5': 0.94, MRR: 0.98 },
  toolbench: { 'R@5': 0.8, MRR: 0.84 },
};
const SPEED_GOALS = [
  { tools: 500, buildMs: 250 },
  { tools: 2_037, p99Ms: 5 },
  { tools: 5_000, buildMs: 1_500 },
  { tools: 20_000, p99Ms: 25 },
];

const { values: options } = parseArgs({
  options: {
    json: { type: 'string' },
    'per-query': { type: 'string' },
    'without-vectors': { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});

const { buildIndex } = await bundleSearch();
const { wordVectors } = await bundleSearch('word-vectors.ts');
const vectors = options['without-vectors']
  ? undefined
  : wordVectors(readFileSync(new URL('../../src/search/data/word-vectors.bin', import.meta.url)));
const indexOptions = { vectors: () => vectors };

const quality = options.only === 'speed' ? [] : SETS.map(measureQuality);
const mean = quality.length === 0 ? undefined : meanOf(quality);
const speed = options.only === 'quality' ? [] : SPEED_GOALS.map(measureSize);
print();
if (options.json !== undefined)
  writeFileSync(options.json, `${JSON.stringify({ quality, mean, speed }, null, 2)}\n`);
if (options['per-query'] !== undefined) {
  const lines = quality.flatMap(({ rows }) => rows).map((row) => JSON.stringify(row));
  writeFileSync(options['per-query'], `${lines.join('\n')}\n`);
}

function measureQuality(name) {
  const { tools, queries } = readSet(name);
  const { source, ids } = sourceOf(tools);
  const index = buildIndex(source, indexOptions);
  const rows = queries.map((query) => {
    const ranked = index
      .search(query.query, { limit: 10, allow: () => true })
      .map(({ entry }) => ids.get(entry.name));
    return {
      set: name,
      id: query.id,
      query: query.query,
      relevant: query.relevant,
      ranked,
      ...scoreQuery(query, ranked),
    };
  });
  const scores = Object.fromEntries(
    METRICS.map((metric) => [metric, average(rows.map((row) => row[metric]))]),
  );
  const result = { set: name, queries: queries.length, ...scores, goals: SET_GOALS[name] };
  return Object.defineProperty(result, 'rows', { value: rows, enumerable: false });
}

function measureSize({ tools, ...goals }) {
  const queries = SETS.flatMap((name) =>
    readSet(name)
      .queries.slice(0, 60)
      .map(({ query }) => query),
  );
  return { ...measureSpeed(catalogSource(tools), queries, { buildIndex, indexOptions }), goals };
}

function meanOf(results) {
  return {
    ...Object.fromEntries(
      METRICS.map((metric) => [metric, average(results.map((result) => result[metric]))]),
    ),
    goals: MEAN_GOAL,
  };
}

function average(values) {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function print() {
  const line = (cells) =>
    process.stdout.write(
      `${cells.map((cell, at) => (at === 0 ? cell.padEnd(18) : cell.padStart(15))).join('')}\n`,
    );
  const beside = (value, goal, digits = 3) =>
    value.toFixed(digits) + (goal === undefined ? '' : ` (${goal})`);
  if (mean !== undefined) {
    line(['set (goal)', ...METRICS]);
    for (const result of [...quality, { set: 'mean', ...mean }]) {
      line([result.set, ...METRICS.map((metric) => beside(result[metric], result.goals?.[metric]))]);
    }
  }
  if (speed.length === 0) return;
  line(['tools (goal)', 'build ms', 'again ms', 'p50 ms', 'p99 ms', 'heap MB']);
  for (const { tools, buildMs, rebuildMs, p50Ms, p99Ms, heapMb, goals } of speed) {
    line([
      String(tools),
      beside(buildMs, goals.buildMs, 0),
      beside(rebuildMs, undefined, 0),
      beside(p50Ms, undefined, 2),
      beside(p99Ms, goals.p99Ms, 2),
      beside(heapMb, undefined, 1),
    ]);
  }
}
