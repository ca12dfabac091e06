import { createHash } from 'node:crypto';

import { expect, test } from 'vitest';

import { RECORD_FIELDS } from './audit-row.ts';
import { computeChainHash } from './hash-chain.ts';

type Parts = Parameters<typeof computeChainHash>[0];

const hashedFields = RECORD_FIELDS.filter((field) => field !== 'hash');
/** Gives both parts all fields as texts, whatever their types. */
const record = (fields: Record<string, unknown>): Parts =>
  ({ common: fields, own: fields }) as unknown as Parts;
const complete = Object.fromEntries(hashedFields.map((field) => [field, `a ${field}`]));

test('chain hash: covers all fields in export order and the previous hash', () => {
  const text = `before\n${JSON.stringify(Object.values(complete))}`;
  expect(computeChainHash(record(complete), 'before')).toBe(createHash('sha256').update(text).digest('hex'));
  expect(computeChainHash(record(complete), 'other')).not.toBe(computeChainHash(record(complete), 'before'));
});

test.each(hashedFields)('chain hash: hashes null in place of a missing %s', (missing) => {
  const { [missing]: _, ...rest } = complete;
  const text = `\n${JSON.stringify(hashedFields.map((field) => (field === missing ? null : complete[field])))}`;
  expect(computeChainHash(record(rest), '')).toBe(createHash('sha256').update(text).digest('hex'));
});
