import { randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { AdminAccessKey } from './admin-access-key.ts';

test('admin key: opens only its own gateway outside a fleet', () => {
  const [one, other] = [new AdminAccessKey(undefined), new AdminAccessKey(undefined)];
  expect(one.matches(one.text)).toBe(true);
  expect(one.matches(other.text)).toBe(false);
  expect(one.matches('')).toBe(false);
});

test('admin key: opens every replica of a fleet while its own replica runs', () => {
  const there = new Set(['aaaaaaaa', 'bbbbbbbb']);
  const secret = randomBytes(32);
  const fleet = (self: string, of = secret) => ({
    secret: of,
    self,
    isRunning: (id: string) => there.has(id),
  });
  const [one, other] = [new AdminAccessKey(fleet('aaaaaaaa')), new AdminAccessKey(fleet('bbbbbbbb'))];
  expect(one.text).not.toBe(other.text);
  expect([one.matches(one.text), one.matches(other.text), other.matches(one.text)]).toEqual([
    true,
    true,
    true,
  ]);
  expect(one.matches(other.text.replace('bbbbbbbb', 'aaaaaaaa'))).toBe(false);
  expect(one.matches(`${other.text.slice(0, -1)}${other.text.endsWith('A') ? 'E' : 'A'}`)).toBe(false);
  const stranger = new AdminAccessKey(fleet('bbbbbbbb', randomBytes(32)));
  expect(one.matches(stranger.text)).toBe(false);
  // A key is invalid once its gateway has ended or restarted.
  there.delete('bbbbbbbb');
  expect(one.matches(other.text)).toBe(false);
});
