import { expect, test } from 'vitest';

import { isSafeOwner } from './is-safe-owner.ts';

test.each([
  { name: 'own file', uid: 7, mode: 0o100600, is: true },
  { name: 'own file, readable by others', uid: 7, mode: 0o100644, is: true },
  { name: 'file of another user', uid: 8, mode: 0o100600, is: false },
  { name: 'file of root', uid: 0, mode: 0o100600, is: false },
  { name: 'own file, writable by the group', uid: 7, mode: 0o100660, is: false },
  { name: 'own file, writable by everyone', uid: 7, mode: 0o100602, is: false },
])('file ownership: $name → $is', ({ uid, mode, is }) => {
  expect(isSafeOwner({ uid, mode }, 7)).toBe(is);
});

test('file ownership: accepts every file where users have no numeric ids', () => {
  expect(isSafeOwner({ uid: 0, mode: 0o100666 }, undefined)).toBe(true);
});
