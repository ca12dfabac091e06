import { expect, test } from 'vitest';

import { isGrantLost } from './lost-grant.ts';

const killedAt = 100_000;

function refresh(at: number, wasSpent: boolean, family = 'f') {
  return { event: 'refresh', preset: 'needs-sign-in', pid: 1, at, wasSpent, family };
}

test('lost grant: is excused by a refresh in flight when the gateway was killed', () => {
  const events = [refresh(96_000, false), refresh(99_900, false), refresh(103_000, true)];
  expect(isGrantLost(events, killedAt)).toBe(true);
});

test('lost grant: is not excused without a refresh in flight', () => {
  expect(isGrantLost([refresh(90_000, false), refresh(103_000, true)], killedAt)).toBe(false);
  expect(isGrantLost([refresh(99_900, false)], killedAt)).toBe(false);
  expect(isGrantLost([refresh(99_900, false, 'other'), refresh(103_000, true)], killedAt)).toBe(false);
  expect(isGrantLost([refresh(99_000, false), refresh(99_500, true)], killedAt)).toBe(false);
});
