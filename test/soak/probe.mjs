// Preloaded into a gateway: on SIGUSR2 it collects garbage and writes memory usage and open handles to a file.

import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const file = process.env.SOAK_PROBE;
if (isMainThread && file !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGUSR2', () => {
    collect();
    const { heapUsed, external, rss } = process.memoryUsage();
    const handles = {};
    for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
    writeFileSync(`${file}.new`, JSON.stringify({ heapUsed, external, rss, handles, at: performance.now() }));
    renameSync(`${file}.new`, file);
  });
}
