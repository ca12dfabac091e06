import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { Deadlines } from './deadlines.ts';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

function open(): Deadlines {
  return new Deadlines({ tickMs: 50, now: Date.now });
}

describe('Deadlines', () => {
  test('deadline: expires once, at the first tick after its time', () => {
    using deadlines = open();
    const expired: string[] = [];
    deadlines.after(120, () => expired.push(`late at ${Date.now()}`));
    deadlines.after(60, () => expired.push(`early at ${Date.now()}`));
    vi.advanceTimersByTime(1000);
    expect(expired).toEqual(['early at 100', 'late at 150']);
  });

  test('deadline: does not expire after it is removed', () => {
    using deadlines = open();
    const expire = vi.fn();
    deadlines.remove(deadlines.after(100, expire));
    vi.advanceTimersByTime(1000);
    expect(expire).not.toHaveBeenCalled();
  });

  test('deadline: can be moved while it is pending', () => {
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

  test('deadline: runs one timer while any deadline is pending and none otherwise', () => {
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

  test('deadline: expires when it was added while another one expired', () => {
    using deadlines = open();
    const expire = vi.fn();
    deadlines.after(10, () => deadlines.after(100, expire));
    vi.advanceTimersByTime(150);
    expect(expire).toHaveBeenCalledOnce();
  });

  test('deadline: is dropped when the owner is disposed', () => {
    const deadlines = open();
    const expire = vi.fn();
    deadlines.after(10, expire);
    deadlines[Symbol.dispose]();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(100);
    expect(expire).not.toHaveBeenCalled();
  });
});
