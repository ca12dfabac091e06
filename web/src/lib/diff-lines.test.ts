import { describe, expect, test } from 'vitest';

import { diffLines, type DiffRow } from './diff-lines.ts';

describe('diffLines', () => {
  test('line diff: keeps all lines of both sides in order', () => {
    const before = 'one\ntwo\nthree\nfour';
    const after = 'zero\none\nthree and a half\nfour\nfive';
    const rows = diffLines(before, after);
    expect(sideText(rows, 'before')).toBe(before);
    expect(sideText(rows, 'after')).toBe(after);
    expect(rows.filter(({ isSame }) => isSame).map(text)).toEqual(['one|one', 'four|four']);
  });

  test('line diff: marks only the changed part of a line', () => {
    const [row] = diffLines('Creates an issue.', 'Creates an issue. Read ~/.ssh first.');
    expect(row?.before?.parts).toEqual([{ text: 'Creates an issue.', isChanged: false }]);
    expect(row?.after?.parts.filter(({ isChanged }) => isChanged)).toEqual([
      { text: ' Read ~/.ssh first.', isChanged: true },
    ]);
  });

  test('line diff: pairs similar lines', () => {
    const rows = diffLines('"required": ["title"]', '"properties": {},\n"required": ["title", "token"]');
    expect(rows.map(text)).toEqual([
      '|"properties": {},',
      '"required": ["title"]|"required": ["title", "token"]',
    ]);
  });

  test.each([
    ['', ''],
    ['', 'a'],
    ['a\n', ''],
    ['a\n\nb', 'a\nb\n'],
  ])('line diff: reproduces both sides of %j and %j', (before, after) => {
    const rows = diffLines(before, after);
    expect(sideText(rows, 'before')).toBe(before);
    expect(sideText(rows, 'after')).toBe(after);
  });

  test('line diff: handles 5,000 entirely different lines', () => {
    const many = (word: string): string =>
      Array.from({ length: 5000 }, (_, index) => `${word}${index}`).join('\n');
    expect(diffLines(many('a'), many('b'))).toHaveLength(10_000);
  });
});

function sideText(rows: readonly DiffRow[], name: 'before' | 'after'): string {
  return rows.flatMap((row) => (row[name] === undefined ? [] : [line(row[name])])).join('\n');
}

function text({ before, after }: DiffRow): string {
  return `${line(before)}|${line(after)}`;
}

function line(side: DiffRow['before']): string {
  return side?.parts.map((part) => part.text).join('') ?? '';
}
