import { describe, expect, test } from 'vitest';

import type { AuditRecord } from './audit-record.ts';
import { exportHead, exportText } from './export-text.ts';

const record = (entry: string, more: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{ seq: 1, at: 0, request: 'r', kind: 'tool', caller: 'me', via: 'http', profile: 'default' },
  ...{ outcome: 'ok', entry, ...more },
});

/** Cells as a reader of RFC 4180 sees them. */
function cellsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"\r\n]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  );
}

describe('CSV', () => {
  const at = cellsOf(exportHead('csv').trim()).indexOf('entry');

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
    '＝1',
  ])('%j is no formula in a spreadsheet', (entry) => {
    expect(cellsOf(exportText([record(entry)], 'csv'))[at]).toBe(`'${entry}`);
  });

  test.each(['a,b', 'say "x"', 'two\nlines', '",=1+1,"', 'a=b', 'plain'])(
    '%j stays one cell as it is',
    (entry) => {
      const cells = cellsOf(exportText([record(entry)], 'csv').replace(/\r\n$/, ''));
      expect(cells[at]).toBe(entry);
      expect(cells).toHaveLength(cellsOf(exportHead('csv').trim()).length);
    },
  );

  test('numbers below zero stay numbers, and what is absent is empty', () => {
    const names = cellsOf(exportHead('csv').trim());
    const cells = cellsOf(exportText([record('x', { ms: -1 })], 'csv').trim());
    expect(cells[names.indexOf('ms')]).toBe('-1');
    expect(cells[names.indexOf('code')]).toBe('');
  });
});

test('JSON lines are one record each, as it was', () => {
  const records = [record('=1\n2'), record('b', { seq: 2 })];
  const lines = exportText(records, 'jsonl').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    records.map((each) => ({ time: '1970-01-01T00:00:00.000Z', ...each })),
  );
  expect(exportHead('jsonl')).toBe('');
});
