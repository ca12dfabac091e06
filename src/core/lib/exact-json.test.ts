import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

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

  test.each([
    '',
    '{',
    '[1e400',
    '{"a":1e400}}',
    '01',
    '-01e400',
    '[1.e400]',
    '1e4001e400',
    '{1e400:1}',
    '{"a":1,12345678901234567890 :1}',
    '12345678901234567890x',
    '"\n1234567890123456"',
  ])('exact JSON: rejects invalid JSON: %j', (text) => {
    expect(() => parseExact(text)).toThrow(SyntaxError);
  });

  test('exact JSON: accepts the same texts as JSON.parse', () => {
    const parts = fc.constantFrom(
      ...Array.from('{}[],: "\\-0.e'),
      '"',
      '12345678901234567890',
      '1e400',
      '-0',
      '"a"',
      '\uE000',
    );
    const isAccepted = (parse: (text: string) => unknown, text: string): boolean => {
      try {
        parse(text);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 7 }), (chosen) => {
        const text = chosen.join('');
        expect(isAccepted(parseExact, text), text).toBe(isAccepted(JSON.parse, text));
      }),
      { numRuns: 3_000 },
    );
  });

  test('exact JSON: parses a text once, whatever numbers it contains', () => {
    const text = `[${'12345678901234567890,-0,1e400,0.1234567890123456789,'.repeat(100)}1]`;
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    parseExact(text);
    expect(parse).toHaveBeenCalledTimes(1);
  });

  test('exact JSON: keeps numbers as numbers in the notations of other languages', () => {
    const literals = [
      '1.0E7',
      '1.2345678901234568e-05',
      '1e+16',
      '0.00010',
      '1700000000000000',
      '1e-7',
      '0.0e0',
    ];
    expect(parseExact(`[${literals.join()}]`)).toEqual(literals.map(Number));
  });

  test('exact JSON: writes undefined as null', () => {
    expect(stringifyExact(undefined)).toBe('null');
  });
});
