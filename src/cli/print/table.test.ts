import { expect, test } from 'vitest';

import { table } from './table.ts';

test('columns are aligned by what they take on a terminal', () => {
  expect(
    table([
      ['日本', 'x'],
      ['plain', 'y'],
    ]),
  ).toEqual(['日本   x', 'plain  y']);
});

test('colour does not count', () => {
  const red = (text: string): string => `<${text}>`;
  expect(
    table([
      [{ text: 'a', paint: red }, 'x'],
      ['long', 'y'],
    ]),
  ).toEqual(['<a>     x', 'long  y']);
});

test('the last column is cut to the terminal, or wrapped below itself', () => {
  const rows = [['name', 'a text of some words that go on']];
  expect(table(rows, { width: 24 })).toEqual(['name  a text of some wo…']);
  expect(table(rows, { width: 24, last: 'wrap' })).toEqual([
    'name  a text of some',
    '      words that go on',
  ]);
});

test('the widest column gives way before the last one has no room', () => {
  const rows = [['a-name-that-is-much-longer-than-the-terminal', 'read', 'what it does']];
  expect(table(rows, { width: 40 })).toEqual(['a-name-that-is-much…  read  what it does']);
  expect(table(rows, { width: 40 })[0]?.length).toBeLessThanOrEqual(40);
});

test('of nothing is nothing', () => {
  expect(table([])).toEqual([]);
  expect(table([[]])).toEqual(['']);
});
