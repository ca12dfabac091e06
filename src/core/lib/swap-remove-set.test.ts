import fc from 'fast-check';
import { expect, test } from 'vitest';

import { SwapRemoveSet, NOT_IN_SET } from './swap-remove-set.ts';
import type { SetMember } from './swap-remove-set.ts';

test('swap-remove set: behaves like a Set for any sequence of additions and deletions', () => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (history) => {
      const members = Array.from({ length: 10 }, (): SetMember => ({ index: NOT_IN_SET }));
      const crowd = new SwapRemoveSet<SetMember>();
      const expected = new Set<SetMember>();
      for (const [isComing, at] of history) {
        const member = members[at]!;
        if (isComing) {
          crowd.add(member);
          expected.add(member);
        } else expect(crowd.delete(member)).toBe(expected.delete(member));
        expect(crowd.size).toBe(expected.size);
      }
      expect(new Set(crowd)).toEqual(expected);
    }),
  );
});

test('swap-remove set: iterates over the members at the start, despite changes meanwhile', () => {
  const crowd = new SwapRemoveSet<SetMember & { name: string }>();
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, index: NOT_IN_SET }));
  for (const member of [a!, b!]) crowd.add(member);
  const met: string[] = [];
  for (const member of crowd) {
    met.push(member.name);
    for (const other of [a!, b!]) crowd.delete(other);
    crowd.add(c!);
  }
  expect(met).toEqual(['a', 'b']);
  crowd.clear();
  expect([crowd.size, c!.index]).toEqual([0, NOT_IN_SET]);
});

test('swap-remove set: does not delete an object that only has the index of a member', () => {
  const crowd = new SwapRemoveSet<SetMember>();
  const member = { index: NOT_IN_SET };
  crowd.add(member);
  expect(crowd.delete({ index: 0 })).toBe(false);
  expect([...crowd]).toEqual([member]);
});

test('swap-remove set: finds a member without visiting those after it', () => {
  const crowd = new SwapRemoveSet<SetMember & { name: string }>();
  for (const name of ['a', 'b', 'c']) crowd.add({ name, index: NOT_IN_SET });
  const visited: string[] = [];
  const found = crowd.find(({ name }) => {
    visited.push(name);
    return name === 'b';
  });
  expect([found?.name, visited]).toEqual(['b', ['a', 'b']]);
  expect(crowd.find(({ name }) => name === 'd')).toBeUndefined();
});
