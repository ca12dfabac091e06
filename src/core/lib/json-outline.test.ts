import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { jsonOutline } from './json-outline.ts';

const long = 'x'.repeat(10_000);
const outlineOf = (text: string): string | undefined => jsonOutline(Buffer.from(text));

describe('jsonOutline', () => {
  test('JSON outline: empties long strings and keeps everything else', () => {
    const text = `{"content":[{"type":"text","text":"${long}"},{"uri":"file:///a"}],"isError":true,"ö":1e400}`;
    expect(outlineOf(text)).toBe(
      '{"content":[{"type":"text","text":""},{"uri":"file:///a"}],"isError":true,"ö":1e400}',
    );
  });

  test.each([
    ['an escaped quote', `{"a":"${long}\\"","b":1}`, '{"a":"","b":1}'],
    ['an escaped backslash at its end', `{"a":"${long}\\\\","b":1}`, '{"a":"","b":1}'],
    ['an escaped backslash and an escaped quote', `{"a":"${long}\\\\\\"}","b":1}`, '{"a":"","b":1}'],
    ['text that looks like further members', `{"a":"${long}\\"},\\"id\\":6"}`, '{"a":""}'],
  ])('JSON outline: finds the end of a string with %s', (_, text, outline) => {
    expect(outlineOf(text)).toBe(outline);
  });

  test.each([
    ['no string is long', '{"a":"b"}'],
    ['a string is unterminated', `{"a":"${long}`],
    ['the text has a line break', `{"a":\n"${long}"}`],
    ['there are very many strings', `{"a":["${long}"${',"b"'.repeat(1000)}]}`],
  ])('JSON outline: is undefined when %s', (_, text) => {
    expect(outlineOf(text)).toBeUndefined();
  });

  test('JSON outline: is undefined when the bytes are not valid UTF-8', () => {
    expect(
      jsonOutline(Buffer.concat([Buffer.from(`{"a":"${long}`), Buffer.from([0xff, 0x22, 0x7d])])),
    ).toBeUndefined();
  });

  test('JSON outline: parses to the value with its long strings emptied', () => {
    const emptied = (value: unknown): unknown =>
      typeof value === 'string'
        ? JSON.stringify(value).length > 9000
          ? ''
          : value
        : Array.isArray(value)
          ? value.map(emptied)
          : typeof value === 'object' && value !== null
            ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, emptied(inner)]))
            : value;
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string().map((part) => `${part}"\\${long}${part}`),
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        text,
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('any'), { maxKeys: 4 }),
      ),
    })).any;
    fc.assert(
      fc.property(value, (any) => {
        const json = JSON.stringify({ any });
        const outline = outlineOf(json);
        if (outline !== undefined) expect(JSON.parse(outline)).toEqual(emptied(JSON.parse(json)));
        else expect(json.includes(long)).toBe(false);
      }),
    );
  });
});
