import { expect, test, vi } from 'vitest';

import { Ownership } from './ownership.ts';

function createOwnership(surrenderMs = 5000) {
  const clock = { now: 100 };
  const ends: boolean[] = [];
  const ownership = new Ownership({
    name: 'x',
    epoch: 1,
    requestedAt: 100,
    surrenderMs,
    clock: () => clock.now,
    onEnd: (isLost) => void ends.push(isLost),
  });
  return { ownership, clock, ends };
}

test('ownership: is held until its time is up, counted from the claim', () => {
  const { ownership, clock } = createOwnership();
  clock.now = 5099;
  expect(ownership.isHeld).toBe(true);
  clock.now = 5100;
  expect(ownership.isHeld).toBe(false);
});

test('ownership: counts a renewal from when it was sent and ignores a late one', () => {
  const { ownership, clock } = createOwnership();
  clock.now = 3000;
  ownership.extend(2000);
  clock.now = 6999;
  expect(ownership.isHeld).toBe(true);
  clock.now = 7000;
  ownership.extend(6990);
  expect(ownership.isHeld).toBe(false);
});

test('ownership: notifies listeners when a check finds it expired', async () => {
  const { ownership, clock, ends } = createOwnership();
  const onLost = vi.fn();
  ownership.onLost(onLost);
  clock.now = 99_999;
  expect(ownership.isHeld).toBe(false);
  expect(onLost).not.toHaveBeenCalled();
  await Promise.resolve();
  expect(onLost).toHaveBeenCalledOnce();
  expect(ends).toEqual([true]);
});

test('ownership: expires by itself without a check', async () => {
  vi.useFakeTimers();
  try {
    const { ownership, clock } = createOwnership(1000);
    const onLost = vi.fn();
    ownership.onLost(onLost);
    clock.now = 1100;
    await vi.advanceTimersByTimeAsync(1002);
    expect(onLost).toHaveBeenCalledOnce();
  } finally {
    vi.useRealTimers();
  }
});

test('ownership: is released once, by its last user', () => {
  const { ownership, ends } = createOwnership();
  const onLost = vi.fn();
  ownership.onLost(onLost);
  const [first, second] = [ownership.use(), ownership.use()];
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(ends).toEqual([]);
  second[Symbol.dispose]();
  expect(ends).toEqual([false]);
  expect(ownership.isHeld).toBe(false);
  ownership.lose();
  expect(ends).toEqual([false]);
  expect(onLost).not.toHaveBeenCalled();
});

test('ownership: notifies a listener that is added after the loss at once', () => {
  const { ownership } = createOwnership();
  ownership.lose();
  const onLost = vi.fn();
  ownership.onLost(onLost);
  expect(onLost).toHaveBeenCalledOnce();
});
