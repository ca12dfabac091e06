import { describe, expect, test } from 'vitest';
import { splitShellWords } from './split-shell-words.ts';

describe('splitWords', () => {
  test.each([
    ['npx -y  server', ['npx', '-y', 'server']],
    [`sh -c 'echo "a b"' x`, ['sh', '-c', 'echo "a b"', 'x']],
    [`a "b \\"c\\" \\n" ''`, ['a', 'b "c" \\n', '']],
    ['a\\ b c"d"e', ['a b', 'cde']],
    ['$HOME `x` *', ['$HOME', '`x`', '*']],
    ['  ', []],
  ])('split words: splits %s', (line, words) => {
    expect(splitShellWords(line)).toEqual(words);
  });

  test('split words: returns undefined for an unterminated quote', () => {
    expect(splitShellWords(`a 'b`)).toBeUndefined();
    expect(splitShellWords('a "b')).toBeUndefined();
  });
});
