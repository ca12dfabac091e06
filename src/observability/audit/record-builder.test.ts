import { expect, test } from 'vitest';

import { COMMON_FIELDS } from './audit-row.ts';
import type { CompletedCall } from '../completed-call.ts';
import type { CommonFields } from './record-batch.ts';
import { RecordBuilder, hasSameFields } from './record-builder.ts';

test('common fields: differ when any field differs', () => {
  const fields = (prefix: string) =>
    // All fields are texts here, whatever their types.
    Object.fromEntries(COMMON_FIELDS.map((field) => [field, `${prefix}${field}`])) as unknown as CommonFields;
  expect(hasSameFields(fields('a'), fields('a'))).toBe(true);
  for (const field of COMMON_FIELDS)
    expect([field, hasSameFields(fields('a'), { ...fields('a'), [field]: undefined })]).toEqual([
      field,
      false,
    ]);
});

test('common fields: are shared by clients with the same name and version', () => {
  const builder = new RecordBuilder(100);
  const entry = { kind: 'tool', name: 's__a', definition: { name: 'a' } };
  const caller = { id: 'me', via: 'http', profile: 'default' };
  const commonOf = (client: object) => {
    const call = { caller, client, operation: { kind: 'tool', entry, method: 'tools/call', params: {} } };
    const facts = { tierOf: () => undefined, ruleOf: () => 'all' };
    // The builder reads no other members.
    return builder.build({ call, facts, at: 1, ms: 1 } as unknown as CompletedCall).common;
  };
  expect(commonOf({ name: 'a', version: '1' })).toBe(commonOf({ name: 'a', version: '1' }));
  const others = Array.from({ length: 20 }, (_, at) => commonOf({ name: 'a', version: `${at + 2}` }));
  expect(others.map(({ clientVersion }) => clientVersion)).toEqual(others.map((_, at) => `${at + 2}`));
  const long = 'x'.repeat(1000);
  expect(commonOf({ name: long, version: 7 })).toMatchObject({ client: long.slice(0, 200) });
  expect(commonOf({ name: `${long}y` }).client).toBe(long.slice(0, 200));
  expect(commonOf({ version: '1' }).client).toBeUndefined();
});
