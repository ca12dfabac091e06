import { createHash } from 'node:crypto';

import { expect, test } from 'vitest';

import { MEMBERS } from './audit-row.ts';
import { chainHash } from './chain-hash.ts';

type Parts = Parameters<typeof chainHash>[0];

const said = MEMBERS.filter((member) => member !== 'hash');
/** Texts for all members, whatever their types; both parts are given all of them. */
const record = (of: Record<string, unknown>): Parts => ({ common: of, own: of }) as unknown as Parts;
const whole = Object.fromEntries(said.map((member) => [member, `a ${member}`]));

test('a hash is over all members in the order of exports, and over the hash before', () => {
  const text = `before\n${JSON.stringify(Object.values(whole))}`;
  expect(chainHash(record(whole), 'before')).toBe(createHash('sha256').update(text).digest('hex'));
  expect(chainHash(record(whole), 'other')).not.toBe(chainHash(record(whole), 'before'));
});

test.each(said)('without %s the hash is another one, over null in its place', (member) => {
  const { [member]: _, ...rest } = whole;
  const text = `\n${JSON.stringify(said.map((each) => (each === member ? null : whole[each])))}`;
  expect(chainHash(record(rest), '')).toBe(createHash('sha256').update(text).digest('hex'));
});
