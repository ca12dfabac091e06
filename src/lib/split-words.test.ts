import { describe, expect, test } from 'vitest';
import { splitWords } from './split-words.ts';

describe('splitWords', () => {
  test.each([
    ['npx -y  server', ['npx', '-y', 'server']],
    [`sh -c 'echo "a b"' x`, ['sh', '-c', 'echo "a b"', 'x']],
    [`a "b \\"c\\" \\n" ''`, ['a', 'b "c" \\n', '']],
    ['a\\ b c"d"e', ['a b', 'cde']],
    ['$HOME `x` *', ['$HOME', '`x`', '*']],
    ['  ', []],
  ])('cuts %s', (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });

  test('says nothing where a quote is open', () => {
    expect(splitWords(`a 'b`)).toBeUndefined();
    expect(splitWords('a "b')).toBeUndefined();
  });
});
