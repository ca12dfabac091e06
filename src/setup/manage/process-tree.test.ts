import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, test } from 'vitest';

import { sumMemory, readProcessTree, parsePsLine, buildProcessTree } from './process-tree.ts';

const row = (pid: number, parent: number) => ({
  pid,
  parent,
  command: `p${pid}`,
  memoryBytes: 10,
  cpuSeconds: 1,
});

test('process tree: contains only descendants, and each process once', () => {
  const rows = [row(1, 0), row(5, 1), row(6, 5), row(7, 6), row(8, 1), row(9, 9)];
  const tree = buildProcessTree([5, 6, 9, 44], rows);
  expect(tree.map(({ pid, children }) => [pid, children.map((child) => child.pid)])).toEqual([
    [5, [6]],
    [9, []],
  ]);
  expect(sumMemory(tree)).toBe(40);
});

test('process tree: parses the output of ps', () => {
  expect(parsePsLine('  812     1  20480   1-02:03:04 /usr/libexec/some thing')).toEqual([
    { pid: 812, parent: 1, command: 'some thing', memoryBytes: 20_971_520, cpuSeconds: 93_784 },
  ]);
  expect(parsePsLine('   9 1 0 0:01.50 x')).toMatchObject([{ cpuSeconds: 1.5 }]);
  expect(parsePsLine('')).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'process tree: finds a running process and its children',
  async () => {
    const child = spawn('/bin/sh', ['-c', 'sleep 60 & echo ready; wait'], {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    try {
      await once(child.stdout, 'data');
      // Polls, because the child may still be a shell that has not executed `sleep` yet.
      await expect
        .poll(async () => readProcessTree([child.pid ?? 0], 'linux'))
        .toMatchObject([{ pid: child.pid, children: [{ command: 'sleep' }] }]);
      const [found] = await readProcessTree([child.pid ?? 0], 'linux');
      expect(found?.memoryBytes).toBeGreaterThan(10_000);
    } finally {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    }
  },
);
