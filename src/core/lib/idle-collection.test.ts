import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { IdleCollection, nodeHeap } from './idle-collection.ts';

const MEBIBYTE = 1024 * 1024;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A process whose numbers the test sets. */
function worldOf() {
  const world = { busy: 0, used: 40 * MEBIBYTE, left: 20 * MEBIBYTE, collections: 0, looks: 0 };
  const collection = new IdleCollection(() =>
    Promise.resolve({
      utilization: () => {
        world.looks++;
        return world.busy;
      },
      usedBytes: () => world.used,
      collect: () => {
        world.collections++;
        world.used = world.left;
        return Promise.resolve();
      },
    }),
  );
  return { world, collection };
}

test('idle collection: collects garbage once when idle and again after enough new garbage', async () => {
  const { world, collection } = worldOf();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(world.collections).toBe(1);
  world.used += 5 * MEBIBYTE;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(world.collections).toBe(1);
  world.used += 5 * MEBIBYTE;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(world.collections).toBe(2);
  collection[Symbol.dispose]();
  world.used += 100 * MEBIBYTE;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(world.collections).toBe(2);
});

test('idle collection: runs soon after startup, later only after a longer idle time', async () => {
  const { world } = worldOf();
  await vi.advanceTimersByTimeAsync(1500);
  expect(world.collections).toBe(1);
  for (let round = 0; round < 5; round++) {
    world.used += 10 * MEBIBYTE;
    world.busy = 0.5;
    await vi.advanceTimersByTimeAsync(16_000);
    world.busy = 0;
    await vi.advanceTimersByTimeAsync(4000);
  }
  expect(world.collections).toBe(1);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(world.collections).toBe(2);
});

test('idle collection: skips a busy process and a very large heap', async () => {
  const { world } = worldOf();
  world.busy = 0.1;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(world.collections).toBe(0);
  world.busy = 0;
  world.used = 500 * MEBIBYTE;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(world.collections).toBe(0);
});

test('idle collection: polls less often the longer the process is idle', async () => {
  const { world } = worldOf();
  await vi.advanceTimersByTimeAsync(31_000);
  const { looks } = world;
  await vi.advanceTimersByTimeAsync(160_000);
  expect([looks, world.looks - looks]).toEqual([5, 10]);
});

test('idle collection: frees unreachable objects in a real process', async () => {
  vi.useRealTimers();
  const world = await nodeHeap();
  const junk = new WeakRef(Array.from({ length: 1000 }, (_, at) => ({ at })));
  expect(world.usedBytes()).toBeGreaterThan(MEBIBYTE);
  await world.collect();
  await expect.poll(() => junk.deref(), { timeout: 20_000 }).toBeUndefined();
  expect(world.utilization()).toBeLessThanOrEqual(1);
}, 30_000);
