import { describe, expect, test } from 'vitest';

import type { AdminHeldItem, AdminHeldCall } from '../../../../src/admin/contract/contract.ts';
import { initialKey, firstEntryKey, groupItems, mayDecide, type ReviewItem } from './review-item.ts';

const held = (server: string, name: string, more: Partial<AdminHeldItem> = {}): AdminHeldItem => ({
  server,
  name,
  kind: 'tool',
  fingerprint: 'f',
  reason: 'new',
  offered: {},
  changes: [],
  findings: [],
  ...more,
});
const call: AdminHeldCall = {
  id: 'c1',
  caller: 'a',
  profile: 'default',
  server: 'one',
  name: 'one__x',
  arguments: {},
  rule: 'r',
  since: 1,
  until: 2,
  isOpen: true,
};
const finding = { rule: 'secrets', where: 'description', excerpt: 'x' };
const groups = groupItems({
  calls: [call],
  held: [
    held('one', 'new'),
    held('two', 'no', { reason: 'refused' }),
    held('one', 'changed', { reason: 'changed' }),
    held('one', 'bad', { findings: [finding] }),
    held('one', '', { kind: 'server' }),
    held('two', 'x'),
  ],
});
const name = (key: string | undefined): string | undefined => key?.match(/"(\w*)"]$/)?.[1];

describe('review list', () => {
  test('review list: finds the first held entry of a server', () => {
    expect(name(firstEntryKey('one', groups))).toBe('bad');
    expect(name(firstEntryKey('two', groups))).toBe('x');
    expect(firstEntryKey('three', groups)).toBeUndefined();
  });

  test('review list: sorts held calls first, then servers by urgency, refused ones last', () => {
    expect(groups.map(({ title }) => title)).toEqual(['Held calls', 'one', 'two', 'Refused']);
    expect(groups[1]?.items.map(({ key }) => name(key))).toEqual(['', 'bad', 'changed', 'new']);
    expect(groups[3]?.items.map(({ key }) => name(key))).toEqual(['no']);
  });

  test.each([
    ['', 'call c1'],
    ['call=c1', 'call c1'],
    ['call=gone&server=two', '["two","tool","x"]'],
    ['server=one', '["one","server",""]'],
    ['server=gone', 'call c1'],
  ])('review list: selects the item for the query "%s"', (query, key) => {
    expect(initialKey(groups, new URLSearchParams(query))).toBe(key);
  });
});

describe('review of long definitions and arguments', () => {
  const item = (definition: object, approved?: object): ReviewItem => ({
    key: 'k',
    kind: 'held',
    held: held('one', 'x', {
      offered: { ...definition },
      ...(approved !== undefined && { approved: { fingerprint: 'a', definition: { ...approved } } }),
    }),
  });
  const callItem = (args: AdminHeldCall['arguments']): ReviewItem => ({
    key: 'call c1',
    kind: 'call',
    call: { ...call, arguments: args },
  });
  const manyLines = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`k${n}`, 'x']));

  test.each([
    ['a long text', item({ description: 'x'.repeat(4001) })],
    ['many lines', item(manyLines)],
    ['a long approved definition', item({ description: 'x' }, manyLines)],
    ['a call with a long argument', callItem({ text: 'x'.repeat(4001) })],
    ['a call with many arguments', callItem(manyLines)],
  ])('review: %s can be approved only after it was shown whole, and refused at any time', (_, long) => {
    expect(mayDecide(long, 'accept', undefined)).toBe(false);
    expect(mayDecide(long, 'accept', item({}))).toBe(false);
    expect(mayDecide(long, 'refuse', undefined)).toBe(true);
    expect(mayDecide(long, 'accept', long)).toBe(true);
  });

  test('review: a short definition and a call with short arguments can be approved at once', () => {
    expect(mayDecide(item({ description: 'x'.repeat(4000) }), 'accept', undefined)).toBe(true);
    expect(mayDecide(callItem({ text: 'x'.repeat(4000) }), 'accept', undefined)).toBe(true);
  });
});
