import { expect, test } from 'vitest';

import type { CommonPart } from './audit-batch.ts';
import { COMMON } from './audit-row.ts';
import type { EndedCall } from '../ended-call.ts';
import { RawRecords, isSame } from './raw-records.ts';

test('what differs in any member is not the same', () => {
  const part = (of: string) =>
    // Texts for all members, whatever their types.
    Object.fromEntries(COMMON.map((member) => [member, `${of}${member}`])) as unknown as CommonPart;
  expect(isSame(part('a'), part('a'))).toBe(true);
  for (const member of COMMON)
    expect([member, isSame(part('a'), { ...part('a'), [member]: undefined })]).toEqual([member, false]);
});

test('clients that say the same of themselves have one part in common, and others their own', () => {
  const raw = new RawRecords(100);
  const entry = { kind: 'tool', name: 's__a', definition: { name: 'a' } };
  const caller = { id: 'me', via: 'http', profile: 'default' };
  const commonOf = (client: object) => {
    const call = { caller, client, operation: { kind: 'tool', entry, method: 'tools/call', params: {} } };
    const facts = { tierOf: () => undefined, ruleOf: () => 'all' };
    // Only these members are read.
    return raw.of({ call, facts, at: 1, ms: 1 } as unknown as EndedCall).common;
  };
  expect(commonOf({ name: 'a', version: '1' })).toBe(commonOf({ name: 'a', version: '1' }));
  const others = Array.from({ length: 20 }, (_, at) => commonOf({ name: 'a', version: `${at + 2}` }));
  expect(others.map(({ clientVersion }) => clientVersion)).toEqual(others.map((_, at) => `${at + 2}`));
  const long = 'x'.repeat(1000);
  expect(commonOf({ name: long, version: 7 })).toMatchObject({ client: long.slice(0, 200) });
  expect(commonOf({ name: `${long}y` }).client).toBe(long.slice(0, 200));
  expect(commonOf({ version: '1' }).client).toBeUndefined();
});
