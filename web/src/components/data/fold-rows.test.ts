import { describe, expect, test } from 'vitest';

import { diffLines } from '../../lib/diff-lines.ts';
import { foldRows } from './fold-rows.ts';

const lines = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index}`);
const before = [...lines(0, 20), 'old', ...lines(20, 24), 'gone', ...lines(24, 60)].join('\n');
const after = [...lines(0, 20), 'new', ...lines(20, 24), ...lines(24, 60)].join('\n');
const rows = diffLines(before, after);

describe('diff folding', () => {
  const sections = foldRows(rows, new Set());

  test('diff folding: hides only rows far from any difference', () => {
    expect(sections.flatMap((section) => ('folded' in section ? [section.folded] : []))).toEqual([17, 33]);
    const shown = sections.reduce((sum, section) => sum + ('folded' in section ? section.folded : 1), 0);
    expect(shown).toBe(rows.length);
    for (const [index, row] of rows.entries())
      if (!row.isSame) expect(sections).toContainEqual({ index, row });
  });

  test('diff folding: shows sections that were expanded', () => {
    const unfolded = foldRows(rows, new Set([0]));
    expect(unfolded.slice(0, 17)).toEqual(rows.slice(0, 17).map((row, index) => ({ index, row })));
    expect(unfolded.filter((section) => 'folded' in section)).toHaveLength(1);
  });

  test('diff folding: does not fold a few rows', () => {
    expect(foldRows(diffLines('a\nb\nc\nd', 'a\nb\nc\nd'), new Set())).toHaveLength(4);
  });
});
