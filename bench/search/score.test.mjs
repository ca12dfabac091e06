import { describe, expect, test } from 'vitest';

import { scoreQuery } from './score.mjs';

describe('score of a query', () => {
  test('scoreQuery: counts the relevant tools among the first hits', () => {
    const score = scoreQuery({ relevant: ['a', 'b'] }, ['x', 'a', 'y', 'z', 'v', 'b']);
    expect(score).toEqual({ 'R@1': 0, 'R@5': 0.5, 'R@10': 1, MRR: 0.5 });
  });

  test('scoreQuery: counts an equivalent tool as the relevant one, and only once', () => {
    const query = { relevant: ['a'], equivalent: { a: ['b', 'c'] } };
    expect(scoreQuery(query, ['b', 'c', 'a'])).toEqual({ 'R@1': 1, 'R@5': 1, 'R@10': 1, MRR: 1 });
  });

  test('scoreQuery: ignores hits after the tenth', () => {
    const ranked = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', 'a'];
    expect(scoreQuery({ relevant: ['a'] }, ranked)).toEqual({ 'R@1': 0, 'R@5': 0, 'R@10': 0, MRR: 0 });
  });
});
