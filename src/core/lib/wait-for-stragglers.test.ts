import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { deferred } from './deferred.ts';
import { waitForStragglers } from './wait-for-stragglers.ts';
import type { StragglerOptions } from './wait-for-stragglers.ts';

const wait = { forAllMs: 700, lullMs: 150, atMostMs: 950 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns the time in milliseconds at which the wait ends, given the arrival times; an item that never arrives has no time. */
async function endOf(
  times: readonly (number | undefined)[],
  options: Omit<StragglerOptions, 'isEnough'>,
  enough = 0,
): Promise<number> {
  const begin = performance.now();
  let there = 0;
  const coming = times.map((ms) => {
    const one = deferred<void>();
    if (ms !== undefined)
      setTimeout(() => {
        there++;
        one.resolve();
      }, ms);
    return one.promise;
  });
  const waited = waitForStragglers(coming, { ...options, isEnough: () => there >= enough });
  let end: number | undefined;
  void waited.then(() => (end = performance.now() - begin));
  while (end === undefined) await vi.advanceTimersByTimeAsync(10);
  return end;
}

test('straggler wait: ends when the last one arrives', async () => {
  expect(await endOf([100, 300], wait)).toBe(300);
  expect(await endOf([], wait)).toBe(0);
});

test('straggler wait: ends at its time limit when one does not arrive', async () => {
  expect(await endOf([100, undefined], wait)).toBe(700);
  expect(await endOf([100, undefined], { atMostMs: 400 })).toBe(400);
});

test('straggler wait: continues past the limit while arrivals follow each other closely', async () => {
  expect(await endOf([100, 620, undefined], wait)).toBe(770);
  expect(await endOf([620, 740, 800], wait)).toBe(800);
  expect(await endOf([100, undefined, 720], wait)).toBe(700);
});

test('straggler wait: continues until enough arrived, up to the maximum', async () => {
  expect(await endOf([800, undefined], wait, 1)).toBe(950);
  expect(await endOf([undefined, undefined], wait, 1)).toBe(950);
  expect(await endOf([600, 740, 880, undefined], wait, 1)).toBe(950);
});

test('straggler wait: leaves out the last few after a lull, but not before the minimum time', async () => {
  const some = { ...wait, lastFew: { fromMs: 500, lullMs: 60 } };
  expect(await endOf([510, 520, 550, undefined], some)).toBe(610);
  expect(await endOf([100, 120, 150, undefined], some)).toBe(500);
  expect(await endOf([100, 120, 150, 480], some)).toBe(480);
  // Some were there before.
  expect(await endOf([520, undefined], { ...some, arrivedBefore: 2 })).toBe(580);
});

test('straggler wait: extends the lull to the largest gap between arrivals', async () => {
  const some = { ...wait, lastFew: { fromMs: 500, lullMs: 60 } };
  expect(await endOf([380, 480, 550, undefined], some)).toBe(650);
  expect(await endOf([100, 380, 550, 690], some)).toBe(690);
  expect(await endOf([100, 380, 550, undefined], some)).toBe(700);
});

test('straggler wait: waits for all when more than a few are missing', async () => {
  const some = { ...wait, lastFew: { fromMs: 500, lullMs: 60 } };
  expect(await endOf([100, 120, undefined], some)).toBe(700);
  expect(await endOf([100, 120, 130, 140, 150, undefined, undefined], some)).toBe(700);
});
