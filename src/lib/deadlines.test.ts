import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { Deadlines } from './deadlines.ts';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

function open(): Deadlines {
  return new Deadlines({ tickMs: 50, now: Date.now });
}

describe('Deadlines', () => {
  test('expires each once, at the first tick after its time', () => {
    using deadlines = open();
    const expired: string[] = [];
    deadlines.after(120, () => expired.push(`late at ${Date.now()}`));
    deadlines.after(60, () => expired.push(`early at ${Date.now()}`));
    vi.advanceTimersByTime(1000);
    expect(expired).toEqual(['early at 100', 'late at 150']);
  });

  test('does not expire what was removed', () => {
    using deadlines = open();
    const expire = vi.fn();
    deadlines.remove(deadlines.after(100, expire));
    vi.advanceTimersByTime(1000);
    expect(expire).not.toHaveBeenCalled();
  });

  test('can be moved while it runs', () => {
    using deadlines = open();
    const expire = vi.fn();
    const deadline = deadlines.after(100, expire);
    vi.advanceTimersByTime(90);
    deadline.at = 300;
    vi.advanceTimersByTime(200);
    expect(expire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(50);
    expect(expire).toHaveBeenCalledOnce();
  });

  test('has no timer while nothing is open, and one again afterwards', () => {
    using deadlines = open();
    expect(vi.getTimerCount()).toBe(0);
    deadlines.after(10, () => {});
    deadlines.after(20, () => {});
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(50);
    expect(vi.getTimerCount()).toBe(0);
    const expire = vi.fn();
    deadlines.after(40, expire);
    vi.advanceTimersByTime(50);
    expect(expire).toHaveBeenCalledOnce();
  });

  test('expires what is added while another expires', () => {
    using deadlines = open();
    const expire = vi.fn();
    deadlines.after(10, () => deadlines.after(100, expire));
    vi.advanceTimersByTime(150);
    expect(expire).toHaveBeenCalledOnce();
  });

  test('forgets everything when disposed of', () => {
    const deadlines = open();
    const expire = vi.fn();
    deadlines.after(10, expire);
    deadlines[Symbol.dispose]();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(100);
    expect(expire).not.toHaveBeenCalled();
  });
});
