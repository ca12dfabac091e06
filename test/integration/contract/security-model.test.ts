import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { citedIn, leftOutOf, missingOf, rowsOf } from './cited-tests.ts';
import { root } from './source-tree.ts';

const rows = rowsOf(readFileSync(join(root, 'docs', 'security-model.md'), 'utf8'));

describe('security model', () => {
  test('security model: every row has a defence and cites a test', () => {
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter((row) => citedIn(row).length === 0)).toEqual([]);
    for (const row of rows) expect(row.split(' | ')).toHaveLength(3);
  });

  test('security model: every row cites a test that npm test runs on every machine', () => {
    const late = rows.filter((row) => citedIn(row).every((cited) => leftOutOf([cited]).length > 0));
    expect(late).toEqual([]);
  });

  test('security model: every cited test exists', () => {
    expect(missingOf(rows.flatMap(citedIn))).toEqual([]);
  });
});
