import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { canonicalJson, canonicalText } from './canonical-json.ts';

describe('canonicalJson', () => {
  test('sorts keys at every depth and keeps the order of arrays', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }, 'x'], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1},"x"]}');
  });

  test('leaves out what is not there', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
    expect(canonicalJson([undefined, 1])).toBe('[null,1]');
    expect(canonicalJson(undefined)).toBe('null');
  });

  test('is JSON of the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('is the same text for equal values, whatever the order of their keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(backwards(value))).toBe(canonicalJson(value));
      }),
    );
  });

  test('is the same text for what was written, in order or not', () => {
    for (const text of ['{"9":1,"10":2}', '{"a":[{"c":1,"b":2}]}', '{"__proto__":{"b":1,"a":2}}', '[]'])
      expect(canonicalText(text)).toBe(canonicalJson(JSON.parse(text)));
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalText(JSON.stringify(value))).toBe(canonicalJson(JSON.parse(JSON.stringify(value))));
      }),
    );
  });

  test('keeps the digits of numbers that JavaScript would round, in order or not', () => {
    const inOrder = '{"a":9223372036854775807,"b":-0,"c":"\uE000x"}';
    expect(canonicalText(inOrder)).toBe(inOrder);
    expect(canonicalText('{"c":"\uE000x","b":-0,"a":9223372036854775807}')).toBe(inOrder);
  });
});

function backwards(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(backwards);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toReversed();
  return Object.fromEntries(members.map(([key, member]) => [key, backwards(member)]));
}
