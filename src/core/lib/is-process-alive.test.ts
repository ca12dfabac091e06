import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { describe, expect, test } from 'vitest';

import { isProcessAlive } from './is-process-alive.ts';
import { readProcStat } from './read-proc-stat.ts';

describe('isProcessAlive', () => {
  test('process check: finds a running process and one of another user, not one that does not exist', () => {
    expect(isProcessAlive(process.pid)).toBe(true);
    expect(isProcessAlive(1)).toBe(true);
    expect(isProcessAlive(2 ** 22 + 1)).toBe(false);
  });

  test.runIf(process.platform === 'linux')('process check: a zombie does not run', async () => {
    // The shell becomes `sleep`, which never reaps the process that it inherited.
    const parent = spawn('/bin/sh', ['-c', 'true & echo $!; exec sleep 60']);
    try {
      const [printed] = (await once(parent.stdout, 'data')) as [Buffer];
      const zombie = Number(printed.toString());
      await expect.poll(() => readProcStat(zombie)?.state).toBe('Z');
      expect(isProcessAlive(zombie)).toBe(false);
    } finally {
      parent.kill();
    }
  });
});
