import { expect, test } from 'vitest';

import { isOfUser } from './is-of-user.ts';

test.each([
  { name: 'mine', uid: 7, mode: 0o100600, is: true },
  { name: 'mine, for others to read', uid: 7, mode: 0o100644, is: true },
  { name: 'of another', uid: 8, mode: 0o100600, is: false },
  { name: 'of root', uid: 0, mode: 0o100600, is: false },
  { name: 'for the group to write', uid: 7, mode: 0o100660, is: false },
  { name: 'for everybody to write', uid: 7, mode: 0o100602, is: false },
])('$name: $is', ({ uid, mode, is }) => {
  expect(isOfUser({ uid, mode }, 7)).toBe(is);
});

test('where users have no numbers, each is', () => {
  expect(isOfUser({ uid: 0, mode: 0o100666 }, undefined)).toBe(true);
});
