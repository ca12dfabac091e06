import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { jsonOutline } from './json-outline.ts';

const long = 'x'.repeat(10_000);
const outlineOf = (text: string): string | undefined => jsonOutline(Buffer.from(text));

describe('jsonOutline', () => {
  test('leaves out long strings and nothing else', () => {
    const text = `{"content":[{"type":"text","text":"${long}"},{"uri":"file:///a"}],"isError":true,"ö":1e400}`;
    expect(outlineOf(text)).toBe(
      '{"content":[{"type":"text","text":""},{"uri":"file:///a"}],"isError":true,"ö":1e400}',
    );
  });

  test.each([
    ['a quote that belongs to the string', `{"a":"${long}\\"","b":1}`, '{"a":"","b":1}'],
    ['backslashes before the end', `{"a":"${long}\\\\","b":1}`, '{"a":"","b":1}'],
    ['three backslashes and a quote', `{"a":"${long}\\\\\\"}","b":1}`, '{"a":"","b":1}'],
    ['a member that looks like the end', `{"a":"${long}\\"},\\"id\\":6"}`, '{"a":""}'],
  ])('knows where a string ends: %s', (_, text, outline) => {
    expect(outlineOf(text)).toBe(outline);
  });

  test.each([
    ['no string is long', '{"a":"b"}'],
    ['a string does not end', `{"a":"${long}`],
    ['a line would end', `{"a":\n"${long}"}`],
    ['there are very many strings', `{"a":["${long}"${',"b"'.repeat(1000)}]}`],
  ])('gives the whole to be read where %s', (_, text) => {
    expect(outlineOf(text)).toBeUndefined();
  });

  test('gives the whole to be read where bytes are no text', () => {
    expect(
      jsonOutline(Buffer.concat([Buffer.from(`{"a":"${long}`), Buffer.from([0xff, 0x22, 0x7d])])),
    ).toBeUndefined();
  });

  test('is read as the value with its long strings empty, whatever the value', () => {
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
