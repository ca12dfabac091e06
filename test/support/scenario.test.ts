import { describe, expect, test } from 'vitest';

import { cellsFor, everyLeg, indexFor } from './scenario.ts';

describe('scenario cells', () => {
  test('scenario: uses every leg of both sides, but not every pair, unless told to', () => {
    const cells = cellsFor({ downstream: everyLeg, upstream: everyLeg });
    expect(new Set(cells.map(({ downstream }) => downstream))).toEqual(new Set(everyLeg));
    expect(new Set(cells.map(({ upstream }) => upstream))).toEqual(new Set(everyLeg));
    expect(cells.length).toBeLessThanOrEqual(everyLeg.length + 1);
    expect(cellsFor({ downstream: everyLeg, upstream: everyLeg, pairing: 'every' })).toHaveLength(25);
  });

  test('scenario: chooses different cells for different titles, and always the same one for a title', () => {
    const titles = Array.from({ length: 100 }, (_, index) => `routing: case ${index}`);
    expect(new Set(titles.map((title) => indexFor(title, 6)))).toEqual(new Set([0, 1, 2, 3, 4, 5]));
    expect(indexFor('routing: case 1', 6)).toBe(indexFor('routing: case 1', 6));
  });
});
