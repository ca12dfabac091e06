import { describe, expect, test } from 'vitest';

import { formatTable } from './table.ts';
import { displayWidth } from './display-width.ts';

test('table: aligns columns by display width', () => {
  expect(
    formatTable([
      ['日本', 'x'],
      ['plain', 'y'],
    ]),
  ).toEqual(['日本   x', 'plain  y']);
});

test('table: ignores colour codes when aligning', () => {
  const red = (text: string): string => `<${text}>`;
  expect(
    formatTable([
      [{ text: 'a', paint: red }, 'x'],
      ['long', 'y'],
    ]),
  ).toEqual(['<a>     x', 'long  y']);
});

test('table: truncates or wraps the last column to the terminal width', () => {
  const rows = [['name', 'a text of some words that go on']];
  expect(formatTable(rows, { width: 24 })).toEqual(['name  a text of some wo…']);
  expect(formatTable(rows, { width: 24, lastColumn: 'wrap' })).toEqual([
    'name  a text of some',
    '      words that go on',
  ]);
});

test('table: shrinks the widest column before the last one runs out of room', () => {
  const rows = [['a-name-that-is-much-longer-than-the-terminal', 'read', 'what it does']];
  expect(formatTable(rows, { width: 40 })).toEqual(['a-name-that-is-much…  read  what it does']);
  expect(formatTable(rows, { width: 40 })[0]?.length).toBeLessThanOrEqual(40);
});

const servers = [
  ['server', 'state', 'transport', 'tools', 'listed', 'reached by'],
  ['search-engine', 'ready', 'stdio', '18', '5 min ago', 'npx -y @example/search-engine --verbose'],
  ['日本語のサーバー', 'unreachable', 'http', '', 'never', 'The server did not answer within 30 seconds.'],
];

test.each([20, 30, 45, 60, 72, 80, 200])(
  'table: has no line wider than a terminal of %i columns',
  (width) => {
    for (const last of ['cut', 'wrap'] as const) {
      const lines = formatTable(servers, { width, lastColumn: last });
      expect(lines.filter((line) => displayWidth(line) > width)).toEqual([]);
      expect(lines.join('\n')).toContain('search-');
    }
  },
);

test('table: drops the least important columns on a narrow terminal', () => {
  expect(formatTable(servers, { width: 45, dropOrder: [2, 4, 3] })).toEqual([
    'server            state        reached by',
    'search-engine     ready        npx -y @examp…',
    '日本語のサーバー  unreachable  The server di…',
  ]);
  expect(formatTable([['a', 'b', 'c']], { width: 45, dropOrder: [2] })).toEqual(['a  b  c']);
  const wide = [['first-column', 'second-column', 'third-column']];
  expect(formatTable(wide, { width: 30, dropOrder: [2] })).toEqual(['first-column  second-column']);
  expect(formatTable(wide, { width: 30 })).toEqual(['first-column  third-column']);
});

test('table: omits empty columns on a terminal', () => {
  const rows = [
    ['a', '', 'ready', ''],
    ['b', '', 'failed', ''],
  ];
  expect(formatTable(rows, { width: 80 })).toEqual(['a  ready', 'b  failed']);
});

test('table: never truncates columns marked as whole', () => {
  const rows = [['2026-11-16 04:53', 'a-server-with-a-long-name', 'who it was that called it']];
  expect(formatTable(rows, { width: 60, wholeColumns: [0] })[0]).toMatch(/^2026-11-16 04:53 {2}a-server/);
  expect(formatTable(rows, { width: 40, wholeColumns: [0] })[0]).toMatch(/^2026-11-16 04:53 {2}/);
  const ends = rows.map((row) => row.toReversed());
  expect(formatTable(ends, { width: 60, wholeColumns: [2] })[0]).toMatch(/ {2}2026-11-16 04:53$/);
  expect(formatTable(ends, { width: 36, wholeColumns: [2], dropOrder: [2] })[0]).not.toContain('2026');
});

test('table: wraps the note below a row', () => {
  const rows = [
    ['a', 'failed'],
    ['b', 'ready'],
  ];
  expect(formatTable(rows, { width: 16, notes: ['It was not found.'] })).toEqual([
    'a  failed',
    '  It was not',
    '  found.',
    'b  ready',
  ]);
});

test('table: accepts rows of different lengths and does not pad the last cell', () => {
  const rows = [['a', 'ready', '3 tools'], ['longer', 'waiting: no', ''], ['b', 'x'], []];
  expect(formatTable(rows)).toEqual(['a       ready        3 tools', 'longer  waiting: no', 'b       x', '']);
});

test('table: prints nothing for no rows', () => {
  expect(formatTable([])).toEqual([]);
  expect(formatTable([[]])).toEqual(['']);
});

describe('table of names', () => {
  const tools = [
    ['everything__get-structured-content', 'read', 'Returns structured content'],
    ['plain__add', 'destructive', 'Adds two numbers.'],
  ];

  test('table of names: keeps names whole as long as another column fits beside them', () => {
    expect(formatTable(tools, { width: 60, hasNameColumn: true })).toEqual([
      'everything__get-structured-content  Returns structured cont…',
      'plain__add                          Adds two numbers.',
    ]);
  });

  test('table of names: prints the description below the name when there is no room beside it', () => {
    const head = ['tool', 'tier', 'what it does'];
    expect(formatTable([head, ...tools], { width: 40, hasNameColumn: true, hasHeader: true })).toEqual([
      'everything__get-structured-content',
      '  Returns structured content',
      'plain__add',
      '  Adds two numbers.',
    ]);
    expect(formatTable([['a-very-long-name', '']], { width: 10, hasNameColumn: true })).toEqual([
      'a-very-long-name',
    ]);
  });

  test('table of names: gives a long name its own line', () => {
    const long = ['a-server__a-tool-whose-name-takes-half-of-the-terminal', 'read', 'Finds what it says'];
    expect(formatTable([...tools, long], { width: 80, hasNameColumn: true })).toEqual([
      'everything__get-structured-content  read         Returns structured content',
      'plain__add                          destructive  Adds two numbers.',
      'a-server__a-tool-whose-name-takes-half-of-the-terminal',
      '                                    read         Finds what it says',
    ]);
    expect(formatTable([long], { width: 80, hasNameColumn: true })).toEqual([
      'a-server__a-tool-whose-name-takes-half-of-the-terminal',
      '  read  Finds what it says',
    ]);
  });

  test('table of names: looks like any other table when it fits', () => {
    expect(formatTable(tools, { width: 200, hasNameColumn: true })).toEqual(
      formatTable(tools, { width: 200 }),
    );
    expect(formatTable(tools, { hasNameColumn: true })).toEqual(formatTable(tools));
  });
});
