import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { jsonText, readExactly } from '../../test/support/json-text.ts';
import { Payload } from './payload.ts';

describe('Payload', () => {
  test('keeps the text that it came as', () => {
    const text = '{ "b": 1.0, "a": 12345678901234567890 }';
    expect(Payload.ofText(text).text).toBe(text);
  });

  test('shows rounded numbers to those who look and exact ones to those who write', () => {
    const payload = Payload.ofText('{"id":12345678901234567890}');
    expect(payload.peek).toEqual({ id: 12345678901234567000 });
    expect(Payload.of({ ...(payload.value as object), more: 1 }).text).toBe(
      '{"id":12345678901234567890,"more":1}',
    );
  });

  test.each(['', '{}x', '{},"id":6', '{"a":1', '1,2'])(
    'refuses what is not exactly one value: %j',
    (text) => {
      expect(() => Payload.ofText(text)).toThrow(SyntaxError);
    },
  );

  test('has a text of one line with the same numbers, whatever it was made of', () => {
    fc.assert(
      fc.property(jsonText({ whitespace: true }), (text) => {
        const payload = Payload.ofText(text);
        expect(payload.text).not.toMatch(/[\r\n]/);
        expect(readExactly(payload.text)).toEqual(readExactly(text));
        expect(readExactly(Payload.of(payload.value).text)).toEqual(readExactly(text));
      }),
    );
  });

  test('puts members before its own', () => {
    const more = '"x":1,"y":2';
    const with_ = (text: string): string => {
      const payload = Payload.ofText(text);
      return payload.withMembers(more, payload.peek as object).text;
    };
    expect(with_('{"a":1e400}')).toBe('{"x":1,"y":2,"a":1e400}');
    expect(JSON.parse(with_(' { "a" : "{" } '))).toEqual({ x: 1, y: 2, a: '{' });
    expect(with_('{}')).toBe('{"x":1,"y":2}');
    expect(with_('{ }')).toBe('{"x":1,"y":2}');
  });

  test('has a text also where there is no value', () => {
    expect(Payload.of(undefined).text).toBe('null');
    expect(Payload.of(null).value).toBeNull();
  });
});
