import { describe, expect, test } from 'vitest';

import { table } from './table.ts';
import { widthOf } from './width.ts';

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

const servers = [
  ['server', 'state', 'transport', 'tools', 'listed', 'reached by'],
  ['search-engine', 'ready', 'stdio', '18', '5 min ago', 'npx -y @example/search-engine --verbose'],
  ['日本語のサーバー', 'unreachable', 'http', '', 'never', 'The server did not answer within 30 seconds.'],
];

test.each([20, 30, 45, 60, 72, 80, 200])('no line is wider than a terminal of %i columns', (width) => {
  for (const last of ['cut', 'wrap'] as const) {
    const lines = table(servers, { width, last });
    expect(lines.filter((line) => widthOf(line) > width)).toEqual([]);
    expect(lines.join('\n')).toContain('search-');
  }
});

test('a narrow terminal does without what matters least', () => {
  expect(table(servers, { width: 45, drop: [2, 4, 3] })).toEqual([
    'server            state        reached by',
    'search-engine     ready        npx -y @examp…',
    '日本語のサーバー  unreachable  The server di…',
  ]);
  expect(table([['a', 'b', 'c']], { width: 45, drop: [2] })).toEqual(['a  b  c']);
  const wide = [['first-column', 'second-column', 'third-column']];
  expect(table(wide, { width: 30, drop: [2] })).toEqual(['first-column  second-column']);
  expect(table(wide, { width: 30 })).toEqual(['first-column  third-column']);
});

test('on a terminal a column without anything in it takes no room', () => {
  const rows = [
    ['a', '', 'ready', ''],
    ['b', '', 'failed', ''],
  ];
  expect(table(rows, { width: 80 })).toEqual(['a  ready', 'b  failed']);
});

test('what says nothing when cut is left out or whole', () => {
  const rows = [['2026-11-16 04:53', 'a-server-with-a-long-name', 'who it was that called it']];
  expect(table(rows, { width: 60, whole: [0] })[0]).toMatch(/^2026-11-16 04:53 {2}a-server/);
  expect(table(rows, { width: 40, whole: [0] })[0]).toMatch(/^2026-11-16 04:53 {2}/);
  const ends = rows.map((row) => row.toReversed());
  expect(table(ends, { width: 60, whole: [2] })[0]).toMatch(/ {2}2026-11-16 04:53$/);
  expect(table(ends, { width: 36, whole: [2], drop: [2] })[0]).not.toContain('2026');
});

test('what is said below a row takes as many lines as it needs', () => {
  const rows = [
    ['a', 'failed'],
    ['b', 'ready'],
  ];
  expect(table(rows, { width: 16, below: ['It was not found.'] })).toEqual([
    'a  failed',
    '  It was not',
    '  found.',
    'b  ready',
  ]);
});

test('rows of unlike lengths are as wide as their cells, and the last cell is not padded', () => {
  const rows = [['a', 'ready', '3 tools'], ['longer', 'waiting: no', ''], ['b', 'x'], []];
  expect(table(rows)).toEqual(['a       ready        3 tools', 'longer  waiting: no', 'b       x', '']);
});

test('of nothing is nothing', () => {
  expect(table([])).toEqual([]);
  expect(table([[]])).toEqual(['']);
});

describe('a table of names', () => {
  const tools = [
    ['everything__get-structured-content', 'read', 'Returns structured content'],
    ['plain__add', 'destructive', 'Adds two numbers.'],
  ];

  test('cuts no name while something is left beside it', () => {
    expect(table(tools, { width: 60, isNamed: true })).toEqual([
      'everything__get-structured-content  Returns structured cont…',
      'plain__add                          Adds two numbers.',
    ]);
  });

  test('has what is said about them below where there is no room beside them', () => {
    const head = ['tool', 'tier', 'what it does'];
    expect(table([head, ...tools], { width: 40, isNamed: true, hasHead: true })).toEqual([
      'everything__get-structured-content',
      '  Returns structured content',
      'plain__add',
      '  Adds two numbers.',
    ]);
    expect(table([['a-very-long-name', '']], { width: 10, isNamed: true })).toEqual(['a-very-long-name']);
  });

  test('gives a long name a line of its own, so that it takes no room from all others', () => {
    const long = ['a-server__a-tool-whose-name-takes-half-of-the-terminal', 'read', 'Finds what it says'];
    expect(table([...tools, long], { width: 80, isNamed: true })).toEqual([
      'everything__get-structured-content  read         Returns structured content',
      'plain__add                          destructive  Adds two numbers.',
      'a-server__a-tool-whose-name-takes-half-of-the-terminal',
      '                                    read         Finds what it says',
    ]);
    expect(table([long], { width: 80, isNamed: true })).toEqual([
      'a-server__a-tool-whose-name-takes-half-of-the-terminal',
      '  read  Finds what it says',
    ]);
  });

  test('is as any other where it fits', () => {
    expect(table(tools, { width: 200, isNamed: true })).toEqual(table(tools, { width: 200 }));
    expect(table(tools, { isNamed: true })).toEqual(table(tools));
  });
});
