import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { findSimilar } from './find-similar.ts';

describe('nearest', () => {
  test('nearest match: finds a word with a missing, doubled or swapped letter', () => {
    const keys = ['command', 'args', 'env', 'cwd', 'headers'];
    expect(findSimilar('comand', keys, 1)).toEqual(['command']);
    expect(findSimilar('argss', keys, 1)).toEqual(['args']);
    expect(findSimilar('haeders', keys, 1)).toEqual(['headers']);
  });

  test('nearest match: ignores case and separators', () => {
    expect(findSimilar('MCP_Servers', ['names', 'mcpServers'], 1)).toEqual(['mcpServers']);
    expect(findSimilar('create-issue', ['create_issue'], 1)).toEqual(['create_issue']);
  });

  test('nearest match: finds a name whose prefix was omitted', () => {
    expect(findSimilar('create_issue', ['github__create_issue', 'memory__search'], 3)).toEqual([
      'github__create_issue',
    ]);
  });

  test('nearest match: returns nothing when no candidate is close', () => {
    expect(findSimilar('zebra', ['command', 'args'], 3)).toEqual([]);
    expect(findSimilar('', ['command'], 3)).toEqual([]);
  });

  test('nearest match: puts the closest first, keeps the order of equals and limits the count', () => {
    expect(findSimilar('read', ['reads', 'road', 'read', 'ready'], 3)).toEqual(['read', 'reads', 'road']);
  });

  test('nearest match: always finds the word itself among other candidates', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.array(fc.string()), (word, others) => {
        const found = findSimilar(word, [...others, word], others.length + 1);
        expect(found).toContain(word);
        expect(found.length).toBeLessThanOrEqual(others.length + 1);
      }),
    );
  });

  test('nearest match: ignores words of more than 300 characters, which take long to compare', () => {
    const long = 'ab'.repeat(151);
    expect(findSimilar(long, [long, 'ab'], 3)).toEqual([]);
    expect(findSimilar('abab', [long, 'abb'], 3)).toEqual(['abb']);
  });

  test('nearest match: finds any word with one letter removed', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{3,20}$/), fc.nat(), (word, seed) => {
        const at = seed % word.length;
        expect(findSimilar(word.slice(0, at) + word.slice(at + 1), [word], 1)).toEqual([word]);
      }),
    );
  });

  test('nearest match: finds any word with two adjacent letters swapped', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{2,20}$/), fc.nat(), (word, seed) => {
        const at = seed % (word.length - 1);
        const [one = '', other = ''] = word.slice(at);
        const swapped = word.slice(0, at) + other + one + word.slice(at + 2);
        expect(findSimilar(swapped, [word], 1)).toEqual([word]);
      }),
    );
  });
});
