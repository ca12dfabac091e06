import { describe, expect, test } from 'vitest';

import type { AdminHeld, AdminWaitingCall } from '../../../../src/admin/contract/contract.ts';
import { firstKey, offeredBy, reviewGroups } from './review-item.ts';

const held = (server: string, name: string, more: Partial<AdminHeld> = {}): AdminHeld => ({
  ...{ server, name, kind: 'tool', fingerprint: 'f', reason: 'new', offered: {}, changes: [], findings: [] },
  ...more,
});
const call: AdminWaitingCall = {
  ...{ id: 'c1', caller: 'a', profile: 'default', server: 'one', name: 'one__x', arguments: {}, rule: 'r' },
  ...{ since: 1, until: 2, isOpen: true },
};
const finding = { rule: 'secrets', where: 'description', excerpt: 'x' };
const groups = reviewGroups({
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

describe('what waits for a person', () => {
  test('of a server that was approved is what it offers', () => {
    expect(name(offeredBy('one', groups))).toBe('bad');
    expect(name(offeredBy('two', groups))).toBe('x');
    expect(offeredBy('three', groups)).toBeUndefined();
  });

  test('is in the order in which it matters', () => {
    expect(groups.map(({ title }) => title)).toEqual(['Calls that wait', 'one', 'two', 'Refused']);
    expect(groups[1]?.items.map(({ key }) => name(key))).toEqual(['', 'bad', 'changed', 'new']);
    expect(groups[3]?.items.map(({ key }) => name(key))).toEqual(['no']);
  });

  test.each([
    ['', 'call c1'],
    ['call=c1', 'call c1'],
    ['call=gone&server=two', '["two","tool","x"]'],
    ['server=one', '["one","server",""]'],
    ['server=gone', 'call c1'],
  ])('begins where the address "%s" leads', (query, key) => {
    expect(firstKey(groups, new URLSearchParams(query))).toBe(key);
  });
});
