import { describe, expect, test } from 'vitest';

import { formatDefinition } from './format-definition.ts';

const text = (value: object): string => formatDefinition({ ...value }).text;

describe('definition text', () => {
  test('definition text: shows one value per line and multi-line text as it is', () => {
    const definition = {
      name: 'create',
      description: 'First line.\nSecond line.',
      inputSchema: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
      annotations: {},
    };
    expect(text(definition).split('\n')).toEqual([
      'name: create',
      'description:',
      '  │ First line.',
      '  │ Second line.',
      'inputSchema:',
      '  type: object',
      '  required: ["a"]',
      '  properties:',
      '    a:',
      '      type: string',
      'annotations: {}',
    ]);
  });

  test('definition text: shows invisible characters as escapes', () => {
    expect(text({ a: 'b\u202ec\u200bd\u001b[31m' })).toBe(String.raw`a: b\u{202e}c\u{200b}d\u{1b}[31m`);
  });

  test.each([
    [{ a: 'true' }, { a: true }],
    [{ a: '1' }, { a: 1 }],
    [{ a: '' }, {}],
    [{ a: 'b ' }, { a: 'b' }],
    [{ a: 'b\r\nc' }, { a: 'b\nc' }],
    [{ a: 'x\nb: y' }, { a: 'x', b: 'y' }],
    [{ a: '{}' }, { a: {} }],
    [{ 'a: b': 'c' }, { a: 'b: c' }],
    [{ a: ['b'] }, { a: '["b"]' }],
    [{ a: 'b\u202Ec' }, { a: String.raw`b\u{202e}c` }],
  ])('definition text: differs for %j and %j', (one, other) => {
    expect(text(one)).not.toBe(text(other));
  });

  test('definition text: is independent of key order when sorted', () => {
    const one = { b: { y: 1, x: [2] }, description: 'd', a: 1, name: 'n' };
    const other = { name: 'n', a: 1, b: { x: [2], y: 1 }, description: 'd' };
    expect(formatDefinition(one, { isSorted: true })).toEqual(formatDefinition(other, { isSorted: true }));
    expect(text(one)).toMatch(/^name: n\ndescription: d\n/);
  });

  test('definition text: reports what it leaves out', () => {
    const { text: shown, hidden } = formatDefinition({ a: 'x'.repeat(100) }, { maxTextChars: 10 });
    expect(shown).toContain('xxxxxxxxxx… (90 more characters)');
    expect(hidden).toBe(90);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, 'v']));
    const truncated = formatDefinition(many, { maxLines: 10 });
    expect(truncated.text.split('\n')).toHaveLength(11);
    expect(truncated.text).toContain('… (40 more lines)');
    expect(truncated.hidden).toBeGreaterThan(200);
    // Many texts that are short enough one by one are cut, too.
    const wide = { args: Array.from({ length: 100 }, (_, index) => `${index} ${'x'.repeat(1000)}`) };
    const narrowed = formatDefinition(wide, { maxChars: 20_000 });
    expect(narrowed.text.length).toBeLessThan(20_100);
    expect(narrowed.hidden).toBeGreaterThan(80_000);
    expect(formatDefinition(wide, {}).hidden).toBe(0);
  });

  test('definition text: grows with the size of a deeply nested value, not with the square of its depth', () => {
    let nested: object = { end: 'here' };
    for (let level = 0; level < 2000; level += 1) nested = { a: nested };
    const { text: whole, hidden } = formatDefinition({ nested });
    expect(whole).toContain('"end":"here"');
    expect(whole.length).toBeLessThan(20_000);
    expect(hidden).toBe(0);
    expect(formatDefinition({ nested }, { maxTextChars: 4000 }).hidden).toBeGreaterThan(1000);
  });
});
