import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { canonicalJson, canonicalJsonSteps, canonicalizeText } from './canonical-json.ts';
import { completeAtOnce } from './complete-in-slices.ts';

describe('canonicalJson', () => {
  test('canonical JSON: sorts keys at every depth and keeps the order of arrays', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }, 'x'], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1},"x"]}');
  });

  test('canonical JSON: omits undefined members and writes other undefined values as null', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
    expect(canonicalJson([undefined, 1])).toBe('[null,1]');
    expect(canonicalJson(undefined)).toBe('null');
  });

  test('canonical JSON: is the same text in many steps for a large value', () => {
    const members = Array.from({ length: 3_000 }, (_, at) => [`key ${at}`, [at, { b: undefined, a: null }]]);
    const value = { z: Object.fromEntries(members) as object, a: [undefined, members] };
    const steps = canonicalJsonSteps(value);
    for (let at = 0; at < 1_000; at += 1) expect(steps.next().done).toBe(false);
    expect(completeAtOnce(steps)).toBe(canonicalJson(value));
  });

  test('canonical JSON: parses to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('canonical JSON: is the same text for any order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(backwards(value))).toBe(canonicalJson(value));
      }),
    );
  });

  test('canonical text: equals the canonical JSON of the parsed text', () => {
    for (const text of ['{"9":1,"10":2}', '{"a":[{"c":1,"b":2}]}', '{"__proto__":{"b":1,"a":2}}', '[]'])
      expect(canonicalizeText(text)).toBe(canonicalJson(JSON.parse(text)));
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalizeText(JSON.stringify(value))).toBe(
          canonicalJson(JSON.parse(JSON.stringify(value))),
        );
      }),
    );
  });

  test('canonical text: keeps the digits of numbers that JavaScript would round', () => {
    const inOrder = '{"a":9223372036854775807,"b":-0,"c":"\uE000x"}';
    expect(canonicalizeText(inOrder)).toBe(inOrder);
    expect(canonicalizeText('{"c":"\uE000x","b":-0,"a":9223372036854775807}')).toBe(inOrder);
  });
});

function backwards(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(backwards);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toReversed();
  return Object.fromEntries(members.map(([key, member]) => [key, backwards(member)]));
}
