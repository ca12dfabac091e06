import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { nearest } from './nearest.ts';

describe('nearest', () => {
  test('finds a word with a letter missing, doubled or swapped', () => {
    const keys = ['command', 'args', 'env', 'cwd', 'headers'];
    expect(nearest('comand', keys, 1)).toEqual(['command']);
    expect(nearest('argss', keys, 1)).toEqual(['args']);
    expect(nearest('haeders', keys, 1)).toEqual(['headers']);
  });

  test('does not mind case and separators', () => {
    expect(nearest('MCP_Servers', ['names', 'mcpServers'], 1)).toEqual(['mcpServers']);
    expect(nearest('create-issue', ['create_issue'], 1)).toEqual(['create_issue']);
  });

  test('finds a name whose prefix was left out', () => {
    expect(nearest('create_issue', ['github__create_issue', 'memory__search'], 3)).toEqual([
      'github__create_issue',
    ]);
  });

  test('offers nothing when nothing is near', () => {
    expect(nearest('zebra', ['command', 'args'], 3)).toEqual([]);
    expect(nearest('', ['command'], 3)).toEqual([]);
  });

  test('puts the nearest first, keeps the order of equals and respects the bound on their number', () => {
    expect(nearest('read', ['reads', 'road', 'read', 'ready'], 3)).toEqual(['read', 'reads', 'road']);
  });

  test('finds every word itself, whatever surrounds it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.array(fc.string()), (word, others) => {
        const found = nearest(word, [...others, word], others.length + 1);
        expect(found).toContain(word);
        expect(found.length).toBeLessThanOrEqual(others.length + 1);
      }),
    );
  });

  test('finds every word after one edit in it', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{3,20}$/), fc.nat(), (word, seed) => {
        const at = seed % word.length;
        expect(nearest(word.slice(0, at) + word.slice(at + 1), [word], 1)).toEqual([word]);
      }),
    );
  });

  test('finds every word in which two neighbours changed places, however short it is', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{2,20}$/), fc.nat(), (word, seed) => {
        const at = seed % (word.length - 1);
        const [one = '', other = ''] = word.slice(at);
        const swapped = word.slice(0, at) + other + one + word.slice(at + 2);
        expect(nearest(swapped, [word], 1)).toEqual([word]);
      }),
    );
  });
});
