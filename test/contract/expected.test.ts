import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { requirements } from '../e2e/requirements.ts';
import { citedIn, missingOf, rowsOf } from './cited-tests.ts';

const rows = rowsOf(readFileSync(join(import.meta.dirname, 'expected.md'), 'utf8'));

/** Requirements that a row names; `coverage.test.ts` sees to it that each has a scenario. */
function requiredIn(row: string): readonly string[] {
  return [...row.matchAll(/`([a-z0-9]+(?::[a-z0-9-]+)+)`/g)].map(([, id = '']) => id);
}

describe('what people expect', () => {
  test('is shown by something in each row', () => {
    expect(rows.length).toBeGreaterThan(90);
    expect(rows.filter((row) => citedIn(row).length + requiredIn(row).length === 0)).toEqual([]);
    for (const row of rows) expect(row.split(' | '), row).toHaveLength(3);
  });

  test('names tests and requirements that there are', () => {
    const known = requirements.map(({ id }) => id);
    expect(missingOf(rows.flatMap(citedIn))).toEqual([]);
    expect(rows.flatMap(requiredIn).filter((id) => !known.includes(id))).toEqual([]);
  });

  test('has no reference that is not understood', () => {
    for (const row of rows) {
      const references = row.split(' | ')[2]?.match(/`[^`]*[:/][^`]*`/g) ?? [];
      expect(citedIn(row).length + requiredIn(row).length, row).toBe(references.length);
    }
  });
});
