import { expect, test } from 'vitest';

import { DuplicateFilter } from './duplicate-filter.ts';

function build() {
  const clock = { now: 0 };
  const duplicates = new DuplicateFilter(() => clock.now);
  return { clock, isKnown: (text: string, from: string) => duplicates.isDuplicate(text, from) };
}

test('duplicate filter: delivers a notification from several replicas once per occurrence', () => {
  const { isKnown } = build();
  const said = ['a', 'b', 'a', 'c', 'b', 'c'].map((from) => isKnown('changed', from));
  expect(said).toEqual([false, true, false, true, true, true]);
});

test('duplicate filter: delivers every notification of a single replica', () => {
  const { isKnown } = build();
  expect([1, 2, 3].map(() => isKnown('changed', 'a'))).toEqual([false, false, false]);
});

test('duplicate filter: compares the content and forgets after 500 ms', () => {
  const { clock, isKnown } = build();
  expect([isKnown('x', 'a'), isKnown('y', 'b'), isKnown('x', 'b')]).toEqual([false, false, true]);
  clock.now += 500;
  expect(isKnown('x', 'b')).toBe(false);
});

test('duplicate filter: keeps a bounded number of notifications', () => {
  const { isKnown } = build();
  expect(isKnown('first', 'a')).toBe(false);
  for (let n = 0; n < 1000; n++) isKnown(`${n}`, 'a');
  expect(isKnown('first', 'b')).toBe(false);
});
