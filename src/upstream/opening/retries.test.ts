import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { GatewayError } from '../../model/errors.ts';
import { Retries } from './retries.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const pauses = (random: () => number): readonly number[] => {
  const retries = new Retries({ now: () => 1000, random, onDue: () => {} });
  return Array.from({ length: 12 }, (_, at) => retries.at(at + 1) - 1000);
};

test('each failure makes the longest pause longer, up to a minute', () => {
  expect(pauses(() => 1)).toEqual([
    ...[500, 1000, 2000, 4000, 8000, 16_000, 32_000],
    ...[60_000, 60_000, 60_000, 60_000, 60_000],
  ]);
});

test('pauses are drawn by lot, so that servers do not come back all at once', () => {
  expect(pauses(() => 0.5)).toEqual(pauses(() => 1).map((pause) => pause / 2));
});

test('a server that is down is tried a few times in an hour, and not for ever at once', () => {
  let attempt = 1;
  const error = new GatewayError('UPSTREAM_UNAVAILABLE', 'down');
  const again = (): void => {
    attempt++;
    wait();
  };
  const retries = new Retries({ now: Date.now, random: () => 0.5, onDue: again });
  const wait = (): void =>
    retries.schedule({ at: 'waiting', error, attempt, retryAt: retries.at(attempt) } as never);
  wait();
  vi.advanceTimersByTime(3_600_000);
  expect(attempt).toBeGreaterThan(100);
  expect(attempt).toBeLessThan(140);
  retries.cancel();
  const before = attempt;
  vi.advanceTimersByTime(3_600_000);
  expect(attempt).toBe(before);
});
