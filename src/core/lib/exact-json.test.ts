import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { jsonText, readExactly } from '../../../test/support/json-text.ts';
import { parseExact, stringifyExact } from './exact-json.ts';

describe('parseExact and stringifyExact', () => {
  test.each([
    ['9223372036854775807'],
    ['-18446744073709551615'],
    ['12345678901234567890'],
    ['1e400'],
    ['-1E+400'],
    ['1e-400'],
    ['-0'],
    ['-0.0'],
    ['-0e0'],
    ['0.1000000000000000055'],
    ['1.23456789012345e-320'],
    ['0.30000000000000004'],
    ['1234567890123456.5'],
    ['1000000000000000000000'],
    ['-10000000000000000000000000'],
    ['-5'],
    ['0'],
  ])('exact JSON: writes %s back as it was read', (literal) => {
    for (const text of [literal, `[${literal}]`, `{"a":[${literal},"${literal}"],"b":${literal}}`]) {
      expect(stringifyExact(parseExact(text))).toBe(text);
    }
  });

  test('exact JSON: changes no number at any position', () => {
    fc.assert(
      fc.property(jsonText({ whitespace: true }), (text) => {
        expect(readExactly(stringifyExact(parseExact(text)))).toEqual(readExactly(text));
      }),
      { numRuns: 500 },
    );
  });

  test('exact JSON: parses ordinary values like JSON.parse', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('\uE000') && !text.includes('-0'));
        expect(stringifyExact(parseExact(text))).toBe(text);
      }),
    );
    const text = '{"a":1.5,"b":[100,"x"],"c":12345678901234567890}';
    expect(parseExact(text)).toMatchObject({ a: 1.5, b: [100, 'x'] });
  });

  test.each([
    [String.raw`"\ue000exact:5"`],
    [String.raw`"\uE000exact:5"`],
    [`"\uE000exact:5"`],
    [`"\uE000\uE000exact:5"`],
    [String.raw`"a\"\ue000exact:5"`],
    [String.raw`{"\ue000exact:5":1e400}`],
    [String.raw`["\\\"\ue000exact:5",1e400]`],
  ])('exact JSON: keeps a string that looks like an encoded number a string: %s', (text) => {
    expect(JSON.parse(stringifyExact(parseExact(text)))).toEqual(JSON.parse(text));
  });

  test.each(['', '{', '[1e400', '{"a":1e400}}', '01', '12345678901234567890x', '"\n1234567890123456"'])(
    'exact JSON: rejects invalid JSON: %j',
    (text) => {
      expect(() => parseExact(text)).toThrow(SyntaxError);
    },
  );

  test('exact JSON: writes undefined as null', () => {
    expect(stringifyExact(undefined)).toBe('null');
  });
});
