import fc from 'fast-check';
import { expect, test } from 'vitest';

import { Crowd, NOWHERE } from './crowd.ts';
import type { Member } from './crowd.ts';

test('a crowd has whoever came and did not go, whatever the order', () => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (history) => {
      const members = Array.from({ length: 10 }, (): Member => ({ place: NOWHERE }));
      const crowd = new Crowd<Member>();
      const expected = new Set<Member>();
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

test('those who go while a crowd is looked through are still met, and those who come are not', () => {
  const crowd = new Crowd<Member & { name: string }>();
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, place: NOWHERE }));
  for (const member of [a!, b!]) crowd.add(member);
  const met: string[] = [];
  for (const member of crowd) {
    met.push(member.name);
    for (const other of [a!, b!]) crowd.delete(other);
    crowd.add(c!);
  }
  expect(met).toEqual(['a', 'b']);
  crowd.clear();
  expect([crowd.size, c!.place]).toEqual([0, NOWHERE]);
});

test('a stranger with the place of a member is not taken for it', () => {
  const crowd = new Crowd<Member>();
  const member = { place: NOWHERE };
  crowd.add(member);
  expect(crowd.delete({ place: 0 })).toBe(false);
  expect([...crowd]).toEqual([member]);
});
