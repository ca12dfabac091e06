import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { citedIn, missingOf, rowsOf } from './cited-tests.ts';
import { root } from './source-tree.ts';

const rows = rowsOf(readFileSync(join(root, 'docs', 'security-model.md'), 'utf8'));

describe('the table of attacks', () => {
  test('has an answer and a test in each row', () => {
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter((row) => citedIn(row).length === 0)).toEqual([]);
    for (const row of rows) expect(row.split(' | ')).toHaveLength(3);
  });

  test('names tests that there are', () => {
    expect(missingOf(rows.flatMap(citedIn))).toEqual([]);
  });
});
