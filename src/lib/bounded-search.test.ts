import { describe, expect, test } from 'vitest';

import { boundedSearch, searchProblem } from './bounded-search.ts';

describe('a search by a pattern of a person', () => {
  test('finds in any case, and across the pieces of a long text', () => {
    expect(boundedSearch('^prod')('Production')).toBe(true);
    for (const at of [0, 3_580, 4_090, 50_000]) {
      const text = `${'-'.repeat(at)}secret  word${'-'.repeat(5_000)}`;
      expect(boundedSearch(String.raw`secret\s+word`)(text)).toBe(true);
    }
    expect(boundedSearch('a[*+]b')('a+b')).toBe(true);
  });

  test.each(['(a+)+$', '(a|b)*c', String.raw`(a)\1`, 'a*b*c*', 'x'.repeat(501), '('])(
    'refuses %j',
    (source) => {
      expect(searchProblem(source)).toBeTypeOf('string');
    },
  );

  test.each(['^prod', String.raw`rm\s+-rf\s+/`, '[a-z]{3}', 'a|b', String.raw`\*\+`])(
    'takes %j',
    (source) => {
      expect(searchProblem(source)).toBeUndefined();
    },
  );
});
