import { describe, expect, test } from 'vitest';

import { definitionText } from './definition-text.ts';

const text = (value: object): string => definitionText({ ...value }).text;

describe('the text of a definition', () => {
  test('has a value per line, and texts as they are', () => {
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

  test('shows what does not show', () => {
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
  ])('is another for %j and %j', (one, other) => {
    expect(text(one)).not.toBe(text(other));
  });

  test('does not depend on the order of names where two are compared', () => {
    const one = { b: { y: 1, x: [2] }, description: 'd', a: 1, name: 'n' };
    const other = { name: 'n', a: 1, b: { x: [2], y: 1 }, description: 'd' };
    expect(definitionText(one, { isSorted: true })).toEqual(definitionText(other, { isSorted: true }));
    expect(text(one)).toMatch(/^name: n\ndescription: d\n/);
  });

  test('says what it leaves out', () => {
    const { text: shown, hidden } = definitionText({ a: 'x'.repeat(100) }, { longest: 10 });
    expect(shown).toContain('xxxxxxxxxx… (90 more characters)');
    expect(hidden).toBe(90);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, 'v']));
    const cut = definitionText(many, { mostLines: 10 });
    expect(cut.text.split('\n')).toHaveLength(11);
    expect(cut.text).toContain('… (40 more lines)');
    expect(cut.hidden).toBeGreaterThan(200);
  });
});
