import { describe, expect, test } from 'vitest';

import { compileBoundedPattern, findPatternProblem } from './bounded-pattern-search.ts';

describe('boundedSearch', () => {
  test('bounded search: matches case-insensitively and across chunks of a long text', () => {
    expect(compileBoundedPattern('^prod')('Production')).toBe(true);
    for (const at of [0, 3_580, 4_090, 50_000]) {
      const text = `${'-'.repeat(at)}secret  word${'-'.repeat(5_000)}`;
      expect(compileBoundedPattern(String.raw`secret\s+word`)(text)).toBe(true);
    }
    expect(compileBoundedPattern('a[*+]b')('a+b')).toBe(true);
  });

  test.each(['(a+)+$', '(a|b)*c', String.raw`(a)\1`, 'a*b*c*', 'x'.repeat(501), '('])(
    'bounded search: rejects the unsafe or invalid pattern %j',
    (source) => {
      expect(findPatternProblem(source)).toBeTypeOf('string');
    },
  );

  test.each(['^prod', String.raw`rm\s+-rf\s+/`, '[a-z]{3}', 'a|b', String.raw`\*\+`])(
    'bounded search: accepts the pattern %j',
    (source) => {
      expect(findPatternProblem(source)).toBeUndefined();
    },
  );
});
