import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { readBashWords } from './bash-words.ts';

const BREAKS = ' \t\n"\'@><=;|&(:';

const NAMES = [
  '$(touch${IFS}PWNED)=',
  '`touch PWNED`',
  ';touch PWNED',
  '&touch PWNED&',
  '>PWNED',
  'a b',
  "it's",
  '"quoted"',
  String.raw`back\slash`,
  'a!!b',
  '*',
  '~',
  '#x',
  '{a,b}',
  `'";touch PWNED;"'`,
  String.raw`\';touch PWNED;\'`,
  String.raw`\";touch PWNED;\"`,
  "'",
  '"',
  '\\',
  '!',
  '=x',
  'ünïcode (ok)',
  '$x',
];

/** The ways to type the beginning of a word, and the part that readline keeps before the inserted text. */
const BEGINNINGS = [
  { typed: ['x-'], kept: '', close: '' },
  { typed: ['"x-'], kept: '"', close: '"' },
  { typed: ["'x-"], kept: "'", close: "'" },
  { typed: [String.raw`\x-`], kept: '', close: '' },
  { typed: ["'x'-"], kept: '', close: '' },
  { typed: ['x"-'], kept: 'x"', close: '"' },
  { typed: ["x'-"], kept: "x'", close: "'" },
];

describe('bash words', () => {
  test.skipIf(process.platform === 'win32')(
    'bash completion: inserts any name as one word and runs nothing, whatever quote is open',
    () => {
      const cases = BEGINNINGS.flatMap(({ typed, kept, close }) =>
        NAMES.map((name) => {
          const inserted = readBashWords(['call', ...typed], BREAKS)?.insert(`x-${name}`) ?? '';
          // Readline adds the closing quote, unless the text ends with one.
          const end = inserted.endsWith(close) ? '' : close;
          return { word: `${kept}${inserted}${end}`, name: `x-${name}` };
        }),
      );
      const folder = mkdtempSync(join(tmpdir(), 'bash-words-'));
      try {
        const script = `printf '%s\\0' ${cases.map(({ word }) => word).join(' ')}`;
        const { stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: folder, encoding: 'utf8' });
        expect(stderr).toBe('');
        expect(stdout.split('\0').slice(0, -1)).toEqual(cases.map(({ name }) => name));
        expect(readdirSync(folder)).toEqual([]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  test('bash completion: hides exclamation marks from the history, in and outside of quotes', () => {
    expect(readBashWords(['a'], BREAKS)?.insert('a!b')).toBe(String.raw`a\!b`);
    expect(readBashWords(['"a'], BREAKS)?.insert('a!b')).toBe(String.raw`a"\!"b`);
  });

  test.each([["$'a"], ['$"a'], ['a$HOME'], ['"$(b'], ['a`b']])(
    'bash completion: offers nothing for %s, which bash would expand',
    (word) => {
      expect(readBashWords(['call', word], BREAKS)).toBeUndefined();
    },
  );

  test.each([
    { typed: ['read', 'fixture', ':', '//te'], words: ['read', 'fixture://te'], inserted: '//text' },
    { typed: ['read', '"fixture:', ''], words: ['read', 'fixture:', ''], inserted: 'fixture://text' },
    { typed: ['read', '"fixture://te'], words: ['read', 'fixture://te'], inserted: 'fixture://text' },
    { typed: ['read', String.raw`fixture\:`], words: ['read', 'fixture:'], inserted: 'fixture://text' },
    {
      typed: ['read', '--config', '=', 'a', 'fixture', ':'],
      words: ['read', '--config=a', 'fixture:'],
      inserted: '//text',
    },
    { typed: ['read', 'a', '=', ''], words: ['read', 'a=', ''], inserted: 'fixture://text' },
  ])('bash completion: joins and unquotes $typed', ({ typed, words, inserted }) => {
    const read = readBashWords(typed, BREAKS);
    expect(read?.words).toEqual(words);
    expect(read?.insert('fixture://text')).toBe(inserted);
  });

  test('bash completion: replaces the whole word where the user does not break words at colons', () => {
    expect(readBashWords(['read', 'fixture:'], ' =')?.insert('fixture://text')).toBe('fixture://text');
  });
});
