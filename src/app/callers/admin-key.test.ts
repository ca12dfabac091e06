import { randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { AdminKey } from './admin-key.ts';

test('a gateway of its own knows its own key alone', () => {
  const [one, other] = [new AdminKey(undefined), new AdminKey(undefined)];
  expect(one.is(one.text)).toBe(true);
  expect(one.is(other.text)).toBe(false);
  expect(one.is('')).toBe(false);
});

test('in a fleet the key of each gateway that runs opens all of them', () => {
  const there = new Set(['aaaaaaaa', 'bbbbbbbb']);
  const secret = randomBytes(32);
  const fleet = (self: string, of = secret) => ({ secret: of, self, isThere: (id: string) => there.has(id) });
  const [one, other] = [new AdminKey(fleet('aaaaaaaa')), new AdminKey(fleet('bbbbbbbb'))];
  expect(one.text).not.toBe(other.text);
  expect([one.is(one.text), one.is(other.text), other.is(one.text)]).toEqual([true, true, true]);
  expect(one.is(other.text.replace('bbbbbbbb', 'aaaaaaaa'))).toBe(false);
  expect(one.is(`${other.text.slice(0, -1)}${other.text.endsWith('A') ? 'E' : 'A'}`)).toBe(false);
  const stranger = new AdminKey(fleet('bbbbbbbb', randomBytes(32)));
  expect(one.is(stranger.text)).toBe(false);
  // After its gateway has ended, or was started anew, a key opens nothing.
  there.delete('bbbbbbbb');
  expect(one.is(other.text)).toBe(false);
});
