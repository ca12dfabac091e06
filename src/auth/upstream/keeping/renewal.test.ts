import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { StoredTokens } from '../stored-tokens.ts';
import { Renewal } from './renewal.ts';

const stale: StoredTokens = {
  url: 'https://x.example/mcp',
  accessToken: 'old',
  obtainedAt: 0,
  flow: 'browser',
};
const fresh: StoredTokens = { ...stale, accessToken: 'new' };
const trouble = new Error('HTTP 503');
const death = new Error('invalid_grant');

/** A renewal whose attempts end as told, with what it did. */
function renewalWith(ends: readonly (StoredTokens | Error)[]) {
  const seen = { attempts: 0, wakes: 0 };
  const renewal = new Renewal({
    renew: () => {
      const end = ends[Math.min(seen.attempts++, ends.length - 1)];
      return end instanceof Error ? Promise.reject(end) : Promise.resolve(end ?? fresh);
    },
    isOver: (error) => error === death,
    now: () => Date.now(),
    wake: () => {
      seen.wakes += 1;
      return Promise.reject(trouble);
    },
  });
  return { renewal, seen };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('all who want it together share one attempt', async () => {
  const { renewal, seen } = renewalWith([fresh]);
  const all = await Promise.all([renewal.once(stale), renewal.once(stale), renewal.once(stale)]);
  expect(all).toEqual([fresh, fresh, fresh]);
  expect(seen.attempts).toBe(1);
});

test('whoever comes right after a failure hears of that one, and a moment later it is tried again', async () => {
  const { renewal, seen } = renewalWith([trouble, trouble, fresh]);
  await expect(renewal.once(stale)).rejects.toBe(trouble);
  vi.advanceTimersByTime(1900);
  await expect(renewal.once(stale)).rejects.toBe(trouble);
  expect(seen.attempts).toBe(1);
  vi.advanceTimersByTime(200);
  await expect(renewal.once(stale)).rejects.toBe(trouble);
  expect(seen.attempts).toBe(2);
  // Another token is another matter.
  await expect(renewal.once(fresh)).resolves.toBe(fresh);
  expect(seen.attempts).toBe(3);
});

test('a clock that went back keeps nobody waiting', async () => {
  const { renewal, seen } = renewalWith([trouble, fresh]);
  await expect(renewal.once(stale)).rejects.toBe(trouble);
  vi.setSystemTime(Date.now() - 3_600_000);
  await expect(renewal.once(stale)).resolves.toBe(fresh);
  expect(seen.attempts).toBe(2);
});

test('what a person has mended is tried at once', async () => {
  const { renewal, seen } = renewalWith([death, fresh]);
  await expect(renewal.once(stale)).rejects.toBe(death);
  await expect(renewal.once(stale)).resolves.toBe(fresh);
  expect(seen.attempts).toBe(2);
});

test('after trouble it wakes by itself, ever more rarely, and soon again once it went well', async () => {
  const { renewal, seen } = renewalWith([fresh]);
  const pauses: number[] = [];
  for (let round = 0; round < 7; round++) {
    renewal.wakeAgain();
    const begin = Date.now();
    vi.advanceTimersToNextTimer();
    pauses.push((Date.now() - begin) / 1000);
  }
  expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600]);
  expect(seen.wakes).toBe(7);
  await renewal.once(stale);
  renewal.wakeAgain();
  vi.advanceTimersByTime(30_000);
  expect(seen.wakes).toBe(8);
});

test('a time that no timer can wait for is not now, and after the end nothing wakes', () => {
  const { renewal, seen } = renewalWith([fresh]);
  renewal.wakeIn(100 * 365 * 86_400_000);
  vi.advanceTimersByTime(60_000);
  expect(seen.wakes).toBe(0);
  renewal.wakeIn(1000);
  renewal[Symbol.dispose]();
  vi.advanceTimersByTime(60_000);
  expect(seen.wakes).toBe(0);
});
