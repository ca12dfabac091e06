import v8 from 'node:v8';
import vm from 'node:vm';

import { percentile } from '../lib/stats.mjs';

/** The goals are for the query function inside the process. */
export const SIZES = [
  { tools: 500, goals: { buildMs: 250 } },
  { tools: 2_000, goals: { p99Ms: 5 } },
  { tools: 5_000, goals: { buildMs: 1_500 } },
  { tools: 20_000, goals: { p99Ms: 25 } },
];
const EVERYTHING = { limit: 10, isAllowed: () => true };

/** Measures the build time of an index, the time to rebuild it after one change, query times and memory, all in this process. */
export function measureSpeed(source, queries, { buildIndex, indexOptions, rounds = 3 }) {
  const before = memoryMb();
  const { ms: buildMs, cpuMs: buildCpuMs } = timed(() => buildIndex(source, indexOptions));
  const { value: index, ms: againMs } = timed(() => buildIndex(source, indexOptions));
  const firstMs = timed(() => index.search('the first search of an index', EVERYTHING)).ms;
  for (const query of queries) index.search(query, EVERYTHING);
  const built = memoryMb() - before;
  const changeMs = rebuild(source, index, { buildIndex, indexOptions });
  // Every search counts, including the garbage collection that it runs into.
  const times = [];
  for (let round = 0; round < rounds; round += 1)
    for (const query of queries) times.push(timed(() => index.search(query, EVERYTHING)));
  const share = (which, part) =>
    percentile(
      times.map((time) => time[which]),
      part,
    );
  return {
    tools: source.tools.size,
    buildMs,
    buildCpuMs,
    againMs,
    changeMs,
    firstMs,
    p50Ms: share('ms', 0.5),
    p99Ms: share('ms', 0.99),
    p99CpuMs: share('cpuMs', 0.99),
    memoryMb: built,
  };
}

function rebuild(source, previous, { buildIndex, indexOptions }) {
  const [[name, entry]] = source.tools;
  const changed = {
    ...entry,
    fingerprint: 'changed',
    definition: { ...entry.definition, description: 'Something else.' },
  };
  const tools = new Map(source.tools).set(name, changed);
  const { value, ms } = timed(() => buildIndex({ ...source, tools }, { ...indexOptions, previous }));
  if (value.analysed !== 1) throw new Error(`${value.analysed} tools were analysed for one that changed`);
  return ms;
}

/** Measures wall-clock time and the CPU time of all threads, which is the steadier figure on a busy machine. */
function timed(work) {
  const cpu = process.cpuUsage();
  const from = performance.now();
  const value = work();
  const ms = performance.now() - from;
  const { user, system } = process.cpuUsage(cpu);
  return { value, ms, cpuMs: (user + system) / 1000 };
}

/** Memory of the heap and outside of it, such as columns of numbers. */
function memoryMb() {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc');
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}
