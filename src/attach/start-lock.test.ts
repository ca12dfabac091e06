import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { takeLock } from './start-lock.ts';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'run', 'gateway.lock');
}

const by = (pid: number, living: readonly number[] = [pid]) => ({
  pid,
  isAlive: (other: number) => living.includes(other),
  now: Date.now,
});

describe('the lock of those who start a gateway', () => {
  test('is had by one at a time', () => {
    const file = place();
    const first = takeLock(file, by(1, [1, 2]));
    expect(first).toBeDefined();
    expect(takeLock(file, by(2, [1, 2]))).toBeUndefined();
    first?.[Symbol.dispose]();
    expect(takeLock(file, by(2, [1, 2]))).toBeDefined();
    expect(readFileSync(file, 'utf8')).toBe('2');
  });

  test('of one that died is taken over', () => {
    const file = place();
    takeLock(file, by(1));
    expect(takeLock(file, by(2, [2]))).toBeDefined();
    expect(readFileSync(file, 'utf8')).toBe('2');
    expect(existsSync(`${file}.takeover`)).toBe(false);
  });

  test('that was taken over is not given back by the one who lost it', () => {
    const file = place();
    const lost = takeLock(file, by(1));
    takeLock(file, by(2, [2]));
    lost?.[Symbol.dispose]();
    expect(existsSync(file)).toBe(true);
  });

  test('is not taken over by two at once', () => {
    const file = place();
    takeLock(file, by(1));
    writeFileSync(`${file}.takeover`, '3');
    expect(takeLock(file, by(2, [2, 3]))).toBeUndefined();
    expect(readFileSync(file, 'utf8')).toBe('1');
  });

  test('without a name in it belongs to somebody for a moment only', () => {
    const file = place();
    takeLock(file, by(1))?.[Symbol.dispose]();
    writeFileSync(file, '');
    expect(takeLock(file, by(2))).toBeUndefined();
    utimesSync(file, new Date(0), new Date(0));
    expect(takeLock(file, by(2))).toBeDefined();
  });
});
