import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { StoredTokens } from './stored-tokens.ts';
import { RefreshScheduler } from './refresh-scheduler.ts';

const stale: StoredTokens = {
  url: 'https://x.example/mcp',
  accessToken: 'old',
  obtainedAt: 0,
  flow: 'browser',
};
const fresh: StoredTokens = { ...stale, accessToken: 'new' };
const outage = new Error('HTTP 503');
const permanent = new Error('invalid_grant');

/** Creates a scheduler with scripted outcomes, and counts its attempts and timers. */
function schedulerWith(ends: readonly (StoredTokens | Error)[]) {
  const seen = { attempts: 0, timers: 0 };
  const scheduler = new RefreshScheduler({
    refresh: () => {
      const end = ends[Math.min(seen.attempts++, ends.length - 1)];
      return end instanceof Error ? Promise.reject(end) : Promise.resolve(end ?? fresh);
    },
    isPermanent: (error) => error === permanent,
    now: () => Date.now(),
    onTimer: () => {
      seen.timers += 1;
      return Promise.reject(outage);
    },
  });
  return { scheduler, seen };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('token refresh: shares one attempt among concurrent callers', async () => {
  const { scheduler, seen } = schedulerWith([fresh]);
  const all = await Promise.all([
    scheduler.refresh(stale),
    scheduler.refresh(stale),
    scheduler.refresh(stale),
  ]);
  expect(all).toEqual([fresh, fresh, fresh]);
  expect(seen.attempts).toBe(1);
});

test('token refresh: repeats a failure for two seconds before it tries again', async () => {
  const { scheduler, seen } = schedulerWith([outage, outage, fresh]);
  await expect(scheduler.refresh(stale)).rejects.toBe(outage);
  vi.advanceTimersByTime(1900);
  await expect(scheduler.refresh(stale)).rejects.toBe(outage);
  expect(seen.attempts).toBe(1);
  vi.advanceTimersByTime(200);
  await expect(scheduler.refresh(stale)).rejects.toBe(outage);
  expect(seen.attempts).toBe(2);
  // A failure is remembered per token.
  await expect(scheduler.refresh(fresh)).resolves.toBe(fresh);
  expect(seen.attempts).toBe(3);
});

test('token refresh: tries again at once when the clock was set back', async () => {
  const { scheduler, seen } = schedulerWith([outage, fresh]);
  await expect(scheduler.refresh(stale)).rejects.toBe(outage);
  vi.setSystemTime(Date.now() - 3_600_000);
  await expect(scheduler.refresh(stale)).resolves.toBe(fresh);
  expect(seen.attempts).toBe(2);
});

test('token refresh: tries again at once after a permanent failure', async () => {
  const { scheduler, seen } = schedulerWith([permanent, fresh]);
  await expect(scheduler.refresh(stale)).rejects.toBe(permanent);
  await expect(scheduler.refresh(stale)).resolves.toBe(fresh);
  expect(seen.attempts).toBe(2);
});

test('token refresh: retries in the background with backoff and resets it after a success', async () => {
  const { scheduler, seen } = schedulerWith([fresh]);
  const pauses: number[] = [];
  for (let round = 0; round < 7; round++) {
    scheduler.scheduleRetry();
    const begin = Date.now();
    vi.advanceTimersToNextTimer();
    pauses.push((Date.now() - begin) / 1000);
  }
  expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600]);
  expect(seen.timers).toBe(7);
  await scheduler.refresh(stale);
  scheduler.scheduleRetry();
  vi.advanceTimersByTime(30_000);
  expect(seen.timers).toBe(8);
});

test('token refresh: caps very long delays and schedules nothing after dispose', () => {
  const { scheduler, seen } = schedulerWith([fresh]);
  scheduler.schedule(100 * 365 * 86_400_000);
  vi.advanceTimersByTime(60_000);
  expect(seen.timers).toBe(0);
  scheduler.schedule(1000);
  scheduler[Symbol.dispose]();
  vi.advanceTimersByTime(60_000);
  expect(seen.timers).toBe(0);
});
