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
      busyPart: () => {
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

test('collects once when nothing happens, and again when there is more to collect', async () => {
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
  expect(vi.getTimerCount()).toBe(0);
});

test('after a start it collects at once, later only when nobody has come for a while', async () => {
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

test('holds up nobody: not a busy process, and not one with a very large heap', async () => {
  const { world } = worldOf();
  world.busy = 0.1;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(world.collections).toBe(0);
  world.busy = 0;
  world.used = 500 * MEBIBYTE;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(world.collections).toBe(0);
});

test('looks ever more seldom while nothing happens', async () => {
  const { world } = worldOf();
  await vi.advanceTimersByTimeAsync(31_000);
  const { looks } = world;
  await vi.advanceTimersByTimeAsync(160_000);
  expect([looks, world.looks - looks]).toEqual([5, 10]);
});

test('what nobody has any more is gone from a real process', async () => {
  vi.useRealTimers();
  const world = await nodeHeap();
  const junk = new WeakRef(Array.from({ length: 1000 }, (_, at) => ({ at })));
  expect(world.usedBytes()).toBeGreaterThan(MEBIBYTE);
  await world.collect();
  await expect.poll(() => junk.deref(), { timeout: 20_000 }).toBeUndefined();
  expect(world.busyPart()).toBeLessThanOrEqual(1);
}, 30_000);
