import { describe, expect, test } from 'vitest';

import { columnsTable, figure } from './columns.mjs';

describe('table', () => {
  const columns = [
    { key: 'ms', title: 'ms', kind: 'figure' },
    { key: 'ratio', title: 'of direct', kind: 'ratio' },
    { key: 'note', title: 'note', kind: 'text' },
    { key: 'never', title: 'never', kind: 'count' },
  ];

  test('table: aligns numbers right and omits empty columns', () => {
    const rows = [
      { name: 'one', ms: 1234.5, ratio: 0.5, note: 'yes' },
      { name: 'another', ms: 0.25, ratio: 0.0123, note: undefined },
    ];
    expect(columnsTable({ title: 'Title', columns, rows, notes: ['left out'] }).split('\n')).toEqual([
      '',
      'Title',
      '            ms  of direct  note',
      'one      1,235     0.50 ×  yes',
      'another   0.25    0.012 ×',
      '  left out',
    ]);
  });

  test('table: shows a dash for a missing number', () => {
    const rows = [{ name: 'a', ms: 1 }, { name: 'b' }];
    expect(columnsTable({ title: '', columns, rows })).toContain('b     –');
  });
});

describe('number format', () => {
  test.each([
    [0.1234, '0.12'],
    [-0.5, '-0.50'],
    [12.34, '12.3'],
    [1234.6, '1,235'],
    [-123.4, '-123'],
  ])('number format: writes %d as %s', (value, text) => {
    expect(figure(value)).toBe(text);
  });
});
