import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { acquireStartLock } from './start-lock.ts';

function createLockPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'run', 'gateway.lock');
}

const lockOptions = (pid: number, living: readonly number[] = [pid]) => ({
  pid,
  isAlive: (other: number) => living.includes(other),
  now: Date.now,
});

describe('start lock', () => {
  test('start lock: has one holder at a time', () => {
    const file = createLockPath();
    const first = acquireStartLock(file, lockOptions(1, [1, 2]));
    expect(first).toBeDefined();
    expect(acquireStartLock(file, lockOptions(2, [1, 2]))).toBeUndefined();
    first?.[Symbol.dispose]();
    expect(acquireStartLock(file, lockOptions(2, [1, 2]))).toBeDefined();
    expect(readFileSync(file, 'utf8')).toBe('2');
  });

  test('start lock: is taken over from a dead process', () => {
    const file = createLockPath();
    acquireStartLock(file, lockOptions(1));
    expect(acquireStartLock(file, lockOptions(2, [2]))).toBeDefined();
    expect(readFileSync(file, 'utf8')).toBe('2');
    expect(existsSync(`${file}.takeover`)).toBe(false);
  });

  test('start lock: is not released by a holder that lost it', () => {
    const file = createLockPath();
    const lost = acquireStartLock(file, lockOptions(1));
    acquireStartLock(file, lockOptions(2, [2]));
    lost?.[Symbol.dispose]();
    expect(existsSync(file)).toBe(true);
  });

  test('start lock: is not taken over by two processes at once', () => {
    const file = createLockPath();
    acquireStartLock(file, lockOptions(1));
    writeFileSync(`${file}.takeover`, '3');
    expect(acquireStartLock(file, lockOptions(2, [2, 3]))).toBeUndefined();
    expect(readFileSync(file, 'utf8')).toBe('1');
  });

  test('start lock: expires when it names no process', () => {
    const file = createLockPath();
    acquireStartLock(file, lockOptions(1))?.[Symbol.dispose]();
    writeFileSync(file, '');
    expect(acquireStartLock(file, lockOptions(2))).toBeUndefined();
    utimesSync(file, new Date(0), new Date(0));
    expect(acquireStartLock(file, lockOptions(2))).toBeDefined();
  });
});
