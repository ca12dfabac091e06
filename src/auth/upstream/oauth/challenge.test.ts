import { describe, expect, test } from 'vitest';

import { parseChallenge, mergeScopes } from './challenge.ts';

describe('WWW-Authenticate challenge', () => {
  test.each([
    [undefined, {}],
    ['', {}],
    ['Basic realm="x"', {}],
    ['Bearer', {}],
    ['bearer scope="a b"', { scope: 'a b' }],
    [
      'Bearer realm="x", resource_metadata="https://a.example/b"',
      { resourceMetadata: 'https://a.example/b' },
    ],
    ['Bearer error=insufficient_scope, scope=a', { error: 'insufficient_scope', scope: 'a' }],
    ['Basic realm="Bearer scope=stolen", Bearer scope="right"', { scope: 'right' }],
    ['Bearer scope="right", Basic realm="x", scope="wrong"', { scope: 'right' }],
    [
      'Bearer error_description="say \\"no\\", Basic realm=1", scope="s"',
      { errorDescription: 'say "no", Basic realm=1', scope: 's' },
    ],
    ['Bearer scope="first", scope="second"', { scope: 'first' }],
    ['Bearer scope=""', {}],
    [`Bearer scope="${'x'.repeat(10_000)}"`, {}],
  ])('challenge: parses %s', (header, expected) => {
    expect(parseChallenge(header)).toEqual(expected);
  });
});

test('scope union: lists each scope once, in order', () => {
  expect(mergeScopes('b a', undefined, 'a  c')).toBe('b a c');
  expect(mergeScopes(undefined, '')).toBeUndefined();
});
