import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';

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
    // The shell becomes `sleep`, which never reaps its child `cat`. The child ends when its input is closed, after that.
    const parent = spawn('/bin/sh', ['-c', 'cat <&3 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    });
    try {
      const [printed] = (await once(parent.stdout as Readable, 'data')) as [Buffer];
      const zombie = Number(printed.toString());
      expect(isProcessAlive(zombie)).toBe(true);
      const isSleep = (): boolean => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n';
      await expect.poll(isSleep, { timeout: 20_000 }).toBe(true);
      (parent.stdio[3] as Writable).end();
      await expect.poll(() => readProcStat(zombie)?.state, { timeout: 20_000 }).toBe('Z');
      expect(isProcessAlive(zombie)).toBe(false);
    } finally {
      parent.kill();
    }
  });
});
