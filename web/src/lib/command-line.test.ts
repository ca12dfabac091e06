import { array, assert, constantFrom, oneof, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';

import { joinCommand, splitCommand } from './command-line.ts';

describe('command line', () => {
  test.each([
    ['npx -y @me/server ~/src', ['npx', '-y', '@me/server', '~/src']],
    [`  node "a b.js"  'c d' `, ['node', 'a b.js', 'c d']],
    [`sh -c 'echo "$HOME"'`, ['sh', '-c', 'echo "$HOME"']],
    [String.raw`C:\Tools\a.exe --x`, [String.raw`C:\Tools\a.exe`, '--x']],
    [String.raw`a\ b "c\"d" ""`, ['a b', 'c"d', '']],
    ['', []],
  ])('command line: splits %s', (text, words) => {
    expect(splitCommand(text)).toEqual(words);
  });

  test.each([
    [['npx', '-y', '@me/server', '--token', '•••']],
    [['a b', '', 'c"d', "e'f", `g'h"i`, String.raw`j\k`, String.raw`l\ m`, String.raw`n'\o`, 'two\nlines']],
    [[String.raw`C:\Program Files\a.exe`, '${env:HOME}', '--flag=ü', ' ']],
  ])('command line: joins and splits %j to the same words', (words) => {
    expect(splitCommand(joinCommand(words))).toEqual(words);
  });

  test('command line: adds no unnecessary quotes', () => {
    expect(joinCommand(['npx', '-y', '@me/server@1.0', '--a=b,c'])).toBe('npx -y @me/server@1.0 --a=b,c');
  });

  test('command line: joins and splits any words to the same words', () => {
    const hostile = string({ unit: constantFrom(...`ab '"\\$(){}\`~^!=#*?;&|<>-•ü\n\t`.split('')) });
    const words = array(oneof(hostile, string({ unit: 'binary' })));
    assert(
      property(words, (sample) => {
        expect(splitCommand(joinCommand(sample))).toEqual(sample);
      }),
    );
  });

  test.each([
    [["it's $(id) `id` $HOME"], "'it'\\''s $(id) `id` $HOME'"],
    [['a', '$HOME', '~', '{a,b}', '^a', '=ls'], "a '$HOME' '~' '{a,b}' '^a' '=ls'"],
    [['A=b', 'A=b'], "'A=b' A=b"],
  ])('command line: quotes everything that a shell would expand: %j', (words, line) => {
    expect(joinCommand(words)).toBe(line);
  });
});
