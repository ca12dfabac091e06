import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { runInSlices } from './run-in-slices.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Creates steps that take a millisecond each, by a fake clock. */
function counted(steps: number) {
  let time = 0;
  function* work(): Generator<void, number> {
    for (let at = 0; at < steps; at += 1) {
      time += 1;
      yield;
    }
    return steps;
  }
  return { work: work(), clock: () => time };
}

test('sliced work: runs one slice at a time and yields between slices', async () => {
  const { work, clock } = counted(10);
  const { done } = runInSlices(work, { sliceMs: 4, pauseMs: 1, now: clock });
  expect(clock()).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(clock()).toBe(4);
  await vi.advanceTimersByTimeAsync(1);
  expect(clock()).toBe(8);
  await vi.advanceTimersByTimeAsync(1);
  expect(await done).toBe(10);
});

test('sliced work: finishes on demand without pauses, but still in slices', async () => {
  const { work, clock } = counted(10);
  const sliced = runInSlices(work, { sliceMs: 4, pauseMs: 1_000_000, now: clock });
  const result = sliced.finish();
  expect(clock()).toBe(4);
  sliced.stop();
  await vi.advanceTimersByTimeAsync(2);
  expect(await result).toBe(10);
  expect(await sliced.finish()).toBe(10);
  expect(vi.getTimerCount()).toBe(0);
});

test('sliced work: does nothing after it is stopped', async () => {
  const { work, clock } = counted(10);
  const sliced = runInSlices(work, { sliceMs: 4, pauseMs: 1, now: clock });
  await vi.advanceTimersByTimeAsync(1);
  sliced.stop();
  await vi.advanceTimersByTimeAsync(100);
  expect(clock()).toBe(4);
});

test('sliced work: rejects when a step throws, also on demand', async () => {
  function* bad(): Generator<void, number> {
    yield;
    throw new Error('broken');
  }
  const options = { sliceMs: 0, pauseMs: 1, now: () => 0 };
  const waiting = runInSlices(bad(), options);
  await vi.advanceTimersByTimeAsync(5);
  await expect(waiting.done).rejects.toThrow('broken');
  const urgent = runInSlices(bad(), options);
  urgent.finish().catch(() => {}); // `done` is the same promise.
  await vi.advanceTimersByTimeAsync(5);
  await expect(urgent.done).rejects.toThrow('broken');
});
