import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { jsonText, readExactly } from '../../../test/support/json-text.ts';
import { Payload } from './payload.ts';

describe('Payload', () => {
  test('payload: keeps the text it was created from', () => {
    const text = '{ "b": 1.0, "a": 12345678901234567890 }';
    expect(Payload.ofText(text).text).toBe(text);
  });

  test('payload: exposes rounded numbers for reading and writes exact ones', () => {
    const payload = Payload.ofText('{"id":12345678901234567890}');
    expect(payload.peek).toEqual({ id: 12345678901234567000 });
    expect(Payload.of({ ...(payload.value as object), more: 1 }).text).toBe(
      '{"id":12345678901234567890,"more":1}',
    );
  });

  test.each(['', '{}x', '{},"id":6', '{"a":1', '1,2'])(
    'payload: rejects text that is not exactly one JSON value: %j',
    (text) => {
      expect(() => Payload.ofText(text)).toThrow(SyntaxError);
    },
  );

  test('payload: writes one line with exactly the same numbers', () => {
    fc.assert(
      fc.property(jsonText({ whitespace: true }), (text) => {
        const payload = Payload.ofText(text);
        expect(payload.text).not.toMatch(/[\r\n]/);
        expect(readExactly(payload.text)).toEqual(readExactly(text));
        expect(readExactly(Payload.of(payload.value).text)).toEqual(readExactly(text));
      }),
    );
  });

  test('payload: inserts members before its own', () => {
    const more = '"x":1,"y":2';
    const with_ = (text: string): string => {
      const payload = Payload.ofText(text);
      return payload.withMembers(more).text;
    };
    expect(with_('{"a":1e400}')).toBe('{"x":1,"y":2,"a":1e400}');
    expect(JSON.parse(with_(' { "a" : "{" } '))).toEqual({ x: 1, y: 2, a: '{' });
    expect(with_('{}')).toBe('{"x":1,"y":2}');
    expect(with_('{ }')).toBe('{"x":1,"y":2}');
  });

  test('payload: writes undefined and null as null', () => {
    expect(Payload.of(undefined).text).toBe('null');
    expect(Payload.of(null).value).toBeNull();
  });

  describe('payload of bytes', () => {
    const long = `"${'ä😀'.repeat(4000)}"`;
    const text = `{"content":[{"type":"text","text":${long}}],"isError":true,"n":12345678901234567890}`;
    const payload = (): Payload => Payload.ofBytes(Buffer.from(text));

    test('payload of bytes: equals a payload of the same text', () => {
      const same = Payload.ofText(text);
      expect(payload().text).toBe(text);
      expect(payload().peek).toEqual(same.peek);
      expect(payload().value).toEqual(same.value);
      expect(payload().byteLength).toBe(same.byteLength);
      expect(payload().start(50)).toBe(same.start(50));
    });

    test('payload of bytes: keeps its bytes and exposes an outline without long strings', () => {
      const { bytes, outline } = payload();
      expect(bytes?.rest.toString()).toBe(text);
      expect(outline).toMatchObject({ isError: true, content: [{ type: 'text', text: '' }] });
    });

    test('payload of bytes: inserts members without decoding', () => {
      const with_ = payload().withMembers('"resultType":"complete"');
      expect(with_.bytes?.before).toBe('{"resultType":"complete",');
      const whole = `{"resultType":"complete",${text.slice(1)}`;
      expect(with_.text).toBe(whole);
      expect(with_.byteLength).toBe(Buffer.byteLength(whole));
      expect(with_.start(40)).toBe(whole.slice(0, 40));
      expect(with_.withMembers('"b":1').text).toBe(`{"b":1,${whole.slice(1)}`);
    });

    test('payload of bytes: encodes a value once for repeated sending', () => {
      const value = { a: 'ä😀', n: '\uE000exact:12345678901234567890' };
      const encoded = Payload.of(value).encoded();
      expect(encoded.bytes?.rest.toString()).toBe('{"a":"ä😀","n":12345678901234567890}');
      expect([encoded.text, encoded.value]).toEqual([Payload.of(value).text, value]);
      expect(encoded.withMembers('"b":1').text).toBe('{"b":1,"a":"ä😀","n":12345678901234567890}');
    });

    test.each(['x', ',"id":6', '}', '"', '\\'])('payload of bytes: rejects trailing %j', (more) => {
      expect(() => Payload.ofBytes(Buffer.from(`${text}${more}`))).toThrow(SyntaxError);
    });

    test('payload of bytes: falls back to text when long strings cannot be left out', () => {
      const broken = Payload.ofBytes(Buffer.from(text.replace(',"isError"', ',\n"isError"')));
      expect(broken.bytes).toBeUndefined();
      expect(broken.text).not.toContain('\n');
      expect(broken.peek).toEqual(payload().peek);
    });
  });
});
