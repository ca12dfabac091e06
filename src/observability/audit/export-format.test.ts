import { describe, expect, test } from 'vitest';

import type { AuditRecord } from './audit-record.ts';
import { formatExportHeader, formatExportRecords } from './export-format.ts';

const record = (entry: string, more: Partial<AuditRecord> = {}): AuditRecord => ({
  seq: 1,
  at: 0,
  request: 'r',
  kind: 'tool',
  caller: 'me',
  via: 'http',
  profile: 'default',
  outcome: 'ok',
  entry,
  ...more,
});

/** Cells as a reader of RFC 4180 sees them. */
function cellsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"\r\n]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  );
}

describe('CSV export', () => {
  const at = cellsOf(formatExportHeader('csv').trim()).indexOf('entry');

  test.each([
    '=1+1',
    "=cmd|' /C calc'!A0",
    '+1',
    '-2+3',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    '  =1',
    '\u200B=1',
    '\u0000=1',
    '\u001B\u0008=1',
    '＝1',
  ])('CSV export: escapes %j so that a spreadsheet does not run it as a formula', (entry) => {
    expect(cellsOf(formatExportRecords([record(entry)], 'csv'))[at]).toBe(`'${entry}`);
  });

  test.each(['a,b', 'say "x"', 'two\nlines', '",=1+1,"', 'a=b', 'plain', '\u001B[31mred\u0007\u202E'])(
    'CSV export: keeps %j as a single unchanged cell',
    (entry) => {
      const cells = cellsOf(formatExportRecords([record(entry)], 'csv').replace(/\r\n$/, ''));
      expect(cells[at]).toBe(entry);
      expect(cells).toHaveLength(cellsOf(formatExportHeader('csv').trim()).length);
    },
  );

  test('CSV export: keeps negative numbers and leaves absent values empty', () => {
    const names = cellsOf(formatExportHeader('csv').trim());
    const cells = cellsOf(formatExportRecords([record('x', { ms: -1 })], 'csv').trim());
    expect(cells[names.indexOf('ms')]).toBe('-1');
    expect(cells[names.indexOf('code')]).toBe('');
  });
});

test('JSON Lines export: writes one record per line', () => {
  const records = [record('=1\n2'), record('b', { seq: 2 })];
  const lines = formatExportRecords(records, 'jsonl').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    records.map((expected) => ({ time: '1970-01-01T00:00:00.000Z', ...expected })),
  );
  expect(formatExportHeader('jsonl')).toBe('');
});
