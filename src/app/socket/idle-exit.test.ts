import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { IdleExit } from './idle-exit.ts';

describe('idle exit', () => {
  let ends = 0;
  beforeEach(() => {
    ends = 0;
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());
  const idle = (idleMs: number | undefined) => new IdleExit({ idleMs: () => idleMs, onIdle: () => ends++ });

  test('idle exit: ends the gateway after the idle time, even if no client ever connected', () => {
    idle(60_000);
    vi.advanceTimersByTime(59_999);
    expect(ends).toBe(0);
    vi.advanceTimersByTime(1);
    expect(ends).toBe(1);
  });

  test('idle exit: gives the first client ten seconds to connect', () => {
    const exit = idle(0);
    vi.advanceTimersByTime(9_999);
    exit.acquire();
    vi.advanceTimersByTime(60_000);
    expect(ends).toBe(0);
    exit.release();
    vi.advanceTimersByTime(0);
    expect(ends).toBe(1);
  });

  test('idle exit: restarts the idle time when the last client leaves', () => {
    const exit = idle(20_000);
    exit.acquire();
    exit.acquire();
    exit.release();
    vi.advanceTimersByTime(100_000);
    exit.release();
    vi.advanceTimersByTime(19_000);
    exit.acquire();
    exit.release();
    vi.advanceTimersByTime(19_999);
    expect(ends).toBe(0);
    vi.advanceTimersByTime(1);
    expect(ends).toBe(1);
  });

  test('idle exit: ends a superseded gateway with its last client', () => {
    const exit = idle(60_000);
    exit.acquire();
    exit.retire();
    expect(ends).toBe(0);
    exit.release();
    vi.advanceTimersByTime(0);
    expect(ends).toBe(1);
  });

  test('idle exit: never ends a gateway without an idle time', () => {
    idle(undefined).retire();
    vi.advanceTimersByTime(10 ** 9);
    expect(ends).toBe(0);
  });
});
