import { expect, test } from 'vitest';

import { Duplicates } from './duplicates.ts';

function build() {
  const clock = { now: 0 };
  const duplicates = new Duplicates(() => clock.now);
  return { clock, isKnown: (text: string, from: string) => duplicates.isKnown(text, from) };
}

test('what three gateways notice once is told once, and twice when they notice it twice', () => {
  const { isKnown } = build();
  const said = ['a', 'b', 'a', 'c', 'b', 'c'].map((from) => isKnown('changed', from));
  expect(said).toEqual([false, true, false, true, true, true]);
});

test('what one notices alone is told each time', () => {
  const { isKnown } = build();
  expect([1, 2, 3].map(() => isKnown('changed', 'a'))).toEqual([false, false, false]);
});

test('other words are other news, and what comes later is news again', () => {
  const { clock, isKnown } = build();
  expect([isKnown('x', 'a'), isKnown('y', 'b'), isKnown('x', 'b')]).toEqual([false, false, true]);
  clock.now += 500;
  expect(isKnown('x', 'b')).toBe(false);
});

test('it does not grow without end', () => {
  const { isKnown } = build();
  expect(isKnown('first', 'a')).toBe(false);
  for (let n = 0; n < 1000; n++) isKnown(`${n}`, 'a');
  expect(isKnown('first', 'b')).toBe(false);
});
