import { expect, test } from 'vitest';

import type { AuditRecord } from '../../../../src/admin/contract/contract.ts';
import { matchesFilter, parseFilter, formatQuery, parseRange } from './activity-filter.ts';

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
])('activity filter: matches a record with "%s": %s', (query, expected) => {
  expect(matchesFilter(record, parseFilter(new URLSearchParams(query)))).toBe(expected);
});

test('activity filter: treats a tool error as an error', () => {
  expect(matchesFilter({ ...record, outcome: 'tool-error' }, { errors: true })).toBe(true);
});

test('activity filter: falls back to one hour for an unknown range', () => {
  expect(parseRange(new URLSearchParams('range=7d')).name).toBe('7d');
  expect(parseRange(new URLSearchParams('range=ever')).name).toBe('1h');
});

test('activity filter: omits undefined values from the query', () => {
  expect(formatQuery({ server: 'a&b', errors: true, caller: undefined })).toBe('server=a%26b&errors=true');
});
