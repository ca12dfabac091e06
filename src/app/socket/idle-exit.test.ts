import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { IdleExit } from './idle-exit.ts';

describe('a gateway that nobody uses', () => {
  let ends = 0;
  beforeEach(() => {
    ends = 0;
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());
  const idle = (idleMs: number | undefined) => new IdleExit({ idleMs: () => idleMs, onIdle: () => ends++ });

  test('ends after its time without a client, also when it never had one', () => {
    idle(60_000);
    vi.advanceTimersByTime(59_999);
    expect(ends).toBe(0);
    vi.advanceTimersByTime(1);
    expect(ends).toBe(1);
  });

  test('gives whoever started it the time to come', () => {
    const exit = idle(0);
    vi.advanceTimersByTime(9_999);
    exit.enter();
    vi.advanceTimersByTime(60_000);
    expect(ends).toBe(0);
    exit.leave();
    vi.advanceTimersByTime(0);
    expect(ends).toBe(1);
  });

  test('stays while one of several clients is there, and counts anew after the last', () => {
    const exit = idle(20_000);
    exit.enter();
    exit.enter();
    exit.leave();
    vi.advanceTimersByTime(100_000);
    exit.leave();
    vi.advanceTimersByTime(19_000);
    exit.enter();
    exit.leave();
    vi.advanceTimersByTime(19_999);
    expect(ends).toBe(0);
    vi.advanceTimersByTime(1);
    expect(ends).toBe(1);
  });

  test('with a successor ends with its last client', () => {
    const exit = idle(60_000);
    exit.enter();
    exit.retire();
    expect(ends).toBe(0);
    exit.leave();
    vi.advanceTimersByTime(0);
    expect(ends).toBe(1);
  });

  test('stays for ever where a person started it', () => {
    idle(undefined).retire();
    vi.advanceTimersByTime(10 ** 9);
    expect(ends).toBe(0);
  });
});
