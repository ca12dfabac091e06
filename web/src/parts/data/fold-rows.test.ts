import { describe, expect, test } from 'vitest';

import { diffLines } from '../../lib/diff-lines.ts';
import { foldRows } from './fold-rows.ts';

const lines = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `line ${from + at}`);
const before = [...lines(0, 20), 'old', ...lines(20, 24), 'gone', ...lines(24, 60)].join('\n');
const after = [...lines(0, 20), 'new', ...lines(20, 24), ...lines(24, 60)].join('\n');
const rows = diffLines(before, after);

describe('folding', () => {
  const parts = foldRows(rows, new Set());

  test('leaves out what is far from every difference, and nothing else', () => {
    expect(parts.flatMap((part) => ('folded' in part ? [part.folded] : []))).toEqual([17, 33]);
    const shown = parts.reduce((sum, part) => sum + ('folded' in part ? part.folded : 1), 0);
    expect(shown).toBe(rows.length);
    for (const [at, row] of rows.entries()) if (!row.isSame) expect(parts).toContainEqual({ at, row });
  });

  test('shows what was opened', () => {
    const opened = foldRows(rows, new Set([0]));
    expect(opened.slice(0, 17)).toEqual(rows.slice(0, 17).map((row, at) => ({ at, row })));
    expect(opened.filter((part) => 'folded' in part)).toHaveLength(1);
  });

  test('is not worth it for a few lines', () => {
    expect(foldRows(diffLines('a\nb\nc\nd', 'a\nb\nc\nd'), new Set())).toHaveLength(4);
  });
});
