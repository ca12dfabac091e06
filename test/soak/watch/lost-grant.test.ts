import { expect, test } from 'vitest';

import { isGrantLost } from './lost-grant.ts';

const killedAt = 100_000;

function refresh(at: number, wasSpent: boolean, family = 'f') {
  return { event: 'refresh', preset: 'needs-sign-in', pid: 1, at, wasSpent, family };
}

test('a renewal that was under way when the gateway was killed explains that its grant is gone', () => {
  const events = [refresh(96_000, false), refresh(99_900, false), refresh(103_000, true)];
  expect(isGrantLost(events, killedAt)).toBe(true);
});

test('a token that is used twice without such a renewal is a mistake of ours', () => {
  expect(isGrantLost([refresh(90_000, false), refresh(103_000, true)], killedAt)).toBe(false);
  expect(isGrantLost([refresh(99_900, false)], killedAt)).toBe(false);
  expect(isGrantLost([refresh(99_900, false, 'other'), refresh(103_000, true)], killedAt)).toBe(false);
  expect(isGrantLost([refresh(99_000, false), refresh(99_500, true)], killedAt)).toBe(false);
});
