import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { cpuStopwatch } from '../../test/support/cpu-time.ts';
import { createUriMatcher } from './uri-template.ts';

describe('URI template matcher', () => {
  const cases: [string, string[], string[]][] = [
    [
      'file:///{path}',
      ['file:///notes.txt', 'file:///a%2Fb', 'file:///'],
      ['file:///a/b', 'files:///a', 'file://a'],
    ],
    ['file:///{+path}', ['file:///a/b/c?d#e', 'file:///'], ['http:///a']],
    [
      'demo://resource/dynamic/text/{resourceId}',
      ['demo://resource/dynamic/text/1'],
      ['demo://resource/dynamic/blob/1'],
    ],
    ['db://{table}/{id}', ['db://users/1', 'db://users/a,b'], ['db://users', 'db://users/1/2']],
    [
      'search://find{?q,limit}',
      ['search://find', 'search://find?q=a&limit=3', 'search://find?limit=3'],
      ['search://find/a', 'search://found'],
    ],
    ['search://find?fixed=1{&x}', ['search://find?fixed=1', 'search://find?fixed=1&x=2'], ['search://find']],
    ['x://a{/list*}', ['x://a', 'x://a/b', 'x://a/b/c'], ['x://ab', 'x://a?b']],
    ['x://a{.format}', ['x://a', 'x://a.json'], ['x://a/json', 'x://ajson']],
    ['x://a{;v}', ['x://a', 'x://a;v=1'], ['x://a/v']],
    ['x://a{#part}', ['x://a', 'x://a#part/two'], ['x://apart']],
    ['x://{a:3}/{b*}', ['x://abc/d'], ['x://abc']],
    ['x://(a|b)+/{c}.*', ['x://(a|b)+/1.*'], ['x://a/1.txt']],
    ['x://{unclosed', ['x://{unclosed'], ['x://a']],
    ['', [''], ['a']],
  ];
  test.each(cases)(
    'URI template: matches its expansions and nothing else: %s',
    (template, accepted, refused) => {
      const matcher = createUriMatcher(template);
      expect(accepted.filter((uri) => !matcher.matches(uri))).toEqual([]);
      expect(refused.filter((uri) => matcher.matches(uri))).toEqual([]);
    },
  );

  test('URI template: counts its literal characters', () => {
    expect(createUriMatcher('a://{x}/b{?y}').literalLength).toBe('a:///b'.length);
  });

  test('URI template: matches in bounded time', () => {
    const matcher = createUriMatcher(`x://${'{a}x'.repeat(31)}{b}!`);
    const cpuMs = cpuStopwatch();
    expect(matcher.matches(`x://${'x'.repeat(8000)}`)).toBe(false);
    expect(cpuMs()).toBeLessThan(3_000);
  });

  test('URI template: rejects oversized templates and URIs', () => {
    expect(createUriMatcher('x://{+a}').matches(`x://${'y'.repeat(10_000)}`)).toBe(false);
    expect(createUriMatcher(`x://${'{a}'.repeat(1000)}`).matches('x://y')).toBe(false);
  });

  test('URI template: matches every expansion of arbitrary values', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '/', ':', '.', '-', '?', '='), maxLength: 6 });
    const value = fc.string({ unit: fc.constantFrom('a', 'b', '%2F', '.', '-', '~'), maxLength: 6 });
    const expansion = fc.oneof(
      text.map((literal) => [literal, literal] as const),
      value.map((expanded) => ['{x}', expanded] as const),
      fc.tuple(value, text).map(([one, two]) => ['{+x}', one + two] as const),
      value.map((expanded) => ['{/x}', expanded && `/${expanded}`] as const),
      value.map((expanded) => ['{?x}', expanded && `?x=${expanded}`] as const),
      value.map((expanded) => ['{&x}', expanded && `&x=${expanded}`] as const),
    );
    fc.assert(
      fc.property(fc.array(expansion, { maxLength: 12 }), (pieces) => {
        const template = pieces.map(([piece]) => piece).join('');
        expect(createUriMatcher(template).matches(pieces.map(([, expanded]) => expanded).join(''))).toBe(
          true,
        );
      }),
    );
  });
});
