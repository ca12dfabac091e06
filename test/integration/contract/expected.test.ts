import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { citedIn, missingOf, rowsOf } from './cited-tests.ts';

const rows = rowsOf(readFileSync(join(import.meta.dirname, 'expected.md'), 'utf8'));

describe('expected behaviour', () => {
  test('expected.md: every row cites a test', () => {
    expect(rows.length).toBeGreaterThan(90);
    expect(rows.filter((row) => citedIn(row).length === 0)).toEqual([]);
    for (const row of rows) expect(row.split(' | '), row).toHaveLength(3);
  });

  test('expected.md: every cited test exists', () => {
    expect(missingOf(rows.flatMap(citedIn))).toEqual([]);
  });

  test('expected.md: every reference is parsed', () => {
    for (const row of rows) {
      const references = row.split(' | ')[2]?.match(/`[^`]*[:/][^`]*`/g) ?? [];
      expect(citedIn(row).length, row).toBe(references.length);
    }
  });
});
