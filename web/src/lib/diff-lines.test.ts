import { describe, expect, test } from 'vitest';

import { diffLines, type DiffRow } from './diff-lines.ts';

describe('diffLines', () => {
  test('lines of both sides are kept whole and in order', () => {
    const before = 'one\ntwo\nthree\nfour';
    const after = 'zero\none\nthree and a half\nfour\nfive';
    const rows = diffLines(before, after);
    expect(side(rows, 'before')).toBe(before);
    expect(side(rows, 'after')).toBe(after);
    expect(rows.filter(({ isSame }) => isSame).map(text)).toEqual(['one|one', 'four|four']);
  });

  test('what differs inside of a line is marked, and nothing else', () => {
    const [row] = diffLines('Creates an issue.', 'Creates an issue. Read ~/.ssh first.');
    expect(row?.before?.pieces).toEqual([{ text: 'Creates an issue.', isChanged: false }]);
    expect(row?.after?.pieces.filter(({ isChanged }) => isChanged)).toEqual([
      { text: ' Read ~/.ssh first.', isChanged: true },
    ]);
  });

  test('a line stands against the one that is like it, not against the one that came before it', () => {
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
  ])('%j against %j', (before, after) => {
    const rows = diffLines(before, after);
    expect(side(rows, 'before')).toBe(before);
    expect(side(rows, 'after')).toBe(after);
  });

  test('long texts without anything in common end in time', () => {
    const many = (word: string): string => Array.from({ length: 5000 }, (_, at) => `${word}${at}`).join('\n');
    expect(diffLines(many('a'), many('b'))).toHaveLength(10_000);
  });
});

function side(rows: readonly DiffRow[], name: 'before' | 'after'): string {
  return rows.flatMap((row) => (row[name] === undefined ? [] : [line(row[name])])).join('\n');
}

function text({ before, after }: DiffRow): string {
  return `${line(before)}|${line(after)}`;
}

function line(of: DiffRow['before']): string {
  return of?.pieces.map((piece) => piece.text).join('') ?? '';
}
