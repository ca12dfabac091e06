import { expect, test, vi } from 'vitest';

import { Ownership } from './ownership.ts';

function owned(surrenderMs = 5000) {
  const clock = { now: 100 };
  const over: boolean[] = [];
  const ownership = new Ownership({
    ...{ name: 'x', epoch: 1, since: 100, surrenderMs, clock: () => clock.now },
    onOver: (isLost) => void over.push(isLost),
  });
  return { ownership, clock, over };
}

test('is held until its time is over, counted from when it was asked for', () => {
  const { ownership, clock } = owned();
  clock.now = 5099;
  expect(ownership.isHeld).toBe(true);
  clock.now = 5100;
  expect(ownership.isHeld).toBe(false);
});

test('a renewal counts from when it was sent, and one that comes too late does not count', () => {
  const { ownership, clock } = owned();
  clock.now = 3000;
  ownership.renewed(2000);
  clock.now = 6999;
  expect(ownership.isHeld).toBe(true);
  clock.now = 7000;
  ownership.renewed(6990);
  expect(ownership.isHeld).toBe(false);
});

test('whoever asks too late is told before what it was for ends', async () => {
  const { ownership, clock, over } = owned();
  const lost = vi.fn();
  ownership.onLost(lost);
  clock.now = 99_999;
  expect(ownership.isHeld).toBe(false);
  expect(lost).not.toHaveBeenCalled();
  await Promise.resolve();
  expect(lost).toHaveBeenCalledOnce();
  expect(over).toEqual([true]);
});

test('ends by itself when nobody asks', async () => {
  vi.useFakeTimers();
  try {
    const { ownership, clock } = owned(1000);
    const lost = vi.fn();
    ownership.onLost(lost);
    clock.now = 1100;
    await vi.advanceTimersByTimeAsync(1002);
    expect(lost).toHaveBeenCalledOnce();
  } finally {
    vi.useRealTimers();
  }
});

test('is given back with its last user, once', () => {
  const { ownership, over } = owned();
  const lost = vi.fn();
  ownership.onLost(lost);
  const [one, other] = [ownership.use(), ownership.use()];
  one[Symbol.dispose]();
  one[Symbol.dispose]();
  expect(over).toEqual([]);
  other[Symbol.dispose]();
  expect(over).toEqual([false]);
  expect(ownership.isHeld).toBe(false);
  ownership.lose();
  expect(over).toEqual([false]);
  expect(lost).not.toHaveBeenCalled();
});

test('whoever comes when it is over is told at once', () => {
  const { ownership } = owned();
  ownership.lose();
  const lost = vi.fn();
  ownership.onLost(lost);
  expect(lost).toHaveBeenCalledOnce();
});
