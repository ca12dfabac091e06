import v8 from 'node:v8';
import vm from 'node:vm';

const ROUNDS = 4;

/** Build time, time after one tool changed, query times and memory of an index. */
export function measureSpeed(source, queries, { buildIndex, indexOptions }) {
  const before = heapMb();
  const started = performance.now();
  const index = buildIndex(source, indexOptions);
  const buildMs = performance.now() - started;
  index.search('warm the word vectors', { limit: 10, allow: () => true });
  const built = heapMb() - before;
  const rebuildMs = rebuild(source, index, { buildIndex, indexOptions });
  // The best of a few rounds, so that other work on the machine is not counted.
  const times = queries.map(() => Infinity);
  for (let round = 0; round < ROUNDS; round += 1) {
    queries.forEach((query, at) => {
      const from = performance.now();
      index.search(query, { limit: 10, allow: () => true });
      times[at] = Math.min(times[at], performance.now() - from);
    });
  }
  times.sort((one, other) => one - other);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
  return { tools: source.tools.size, buildMs, rebuildMs, p50Ms: at(0.5), p99Ms: at(0.99), heapMb: built };
}

function rebuild(source, previous, { buildIndex, indexOptions }) {
  const [[name, entry]] = source.tools;
  const changed = {
    ...entry,
    fingerprint: 'changed',
    definition: { ...entry.definition, description: 'Something else.' },
  };
  const from = performance.now();
  buildIndex({ ...source, tools: new Map(source.tools).set(name, changed) }, { ...indexOptions, previous });
  return performance.now() - from;
}

function heapMb() {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc');
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}
