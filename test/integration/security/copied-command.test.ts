import { execFileSync } from 'node:child_process';

import { array, assert, constantFrom, property, string } from 'fast-check';
import { expect, test } from 'vitest';

import { joinCommand } from '../../../web/src/lib/command-line.ts';

const shell = '/bin/sh';

test('copied command: passes every argument unchanged through a shell', () => {
  const words = [
    `{"text":"it's $(echo run) \`echo run\` $HOME \${HOME} !! \\\\ \\"quoted\\""}`,
    '$HOME',
    '`id`',
    '$(id)',
    '~',
    '~root',
    '{a,b}',
    '*',
    '?',
    '^a',
    '=ls',
    '#no',
    'A=b',
    '-n',
    '',
    ' ',
    "'",
    'two\nlines',
    'a;b',
    'a|b',
    'a>b',
    'a&b',
    String.raw`C:\Tools\a.exe`,
    'ü•',
  ];
  expect(pasteIntoShell(words)).toEqual(words);
});

test('copied command: passes random hostile arguments unchanged through a shell', () => {
  const hostile = string({ unit: constantFrom(...`ab '"\\$(){}\`~^!=#*?;&|<>[]-ü\n\t`.split('')) });
  assert(
    property(array(hostile, { minLength: 1 }), (words) => {
      expect(pasteIntoShell(words)).toEqual(words);
    }),
    { numRuns: 100 },
  );
});

/** Returns the arguments that a program receives if the command line is pasted into a shell. */
function pasteIntoShell(words: readonly string[]): readonly string[] {
  const line = joinCommand(['printf', String.raw`%s\0`, ...words]);
  return execFileSync(shell, ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1);
}
