import { expect, test } from 'vitest';

import type { AuditRecord } from '../../../../src/admin/contract/contract.ts';
import { belongs, filterIn, queryOf, rangeIn } from './activity-filter.ts';

const record: AuditRecord = {
  seq: 1,
  at: 0,
  request: 'r',
  kind: 'tool',
  caller: 'local:ada',
  via: 'stdio',
  profile: 'default',
  server: 'files',
  entry: 'read_text_file',
  outcome: 'ok',
};

test.each([
  ['', true],
  ['server=files', true],
  ['server=other', false],
  ['tool=read_text', true],
  ['tool=Read_Text', true],
  ['tool=write', false],
  ['caller=ada', true],
  ['caller=bob', false],
  ['errors=true', false],
])('a record belongs to "%s": %s', (query, expected) => {
  expect(belongs(record, filterIn(new URLSearchParams(query)))).toBe(expected);
});

test('what did not end well is an error', () => {
  expect(belongs({ ...record, outcome: 'tool-error' }, { errors: true })).toBe(true);
});

test('an address of any kind has a range', () => {
  expect(rangeIn(new URLSearchParams('range=7d')).name).toBe('7d');
  expect(rangeIn(new URLSearchParams('range=ever')).name).toBe('1h');
});

test('the question is written without what was not asked', () => {
  expect(queryOf({ server: 'a&b', errors: true, caller: undefined })).toBe('server=a%26b&errors=true');
});
