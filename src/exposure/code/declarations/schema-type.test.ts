import { transform } from 'sucrase';
import { describe, expect, test } from 'vitest';

import { commentText, propertyKey, formatSchemaType } from './schema-type.ts';

/** Whether the text is one valid TypeScript type: stripping types leaves nothing. */
function isOneType(type: string): boolean {
  return (
    transform(`type T = ${type};`, { transforms: ['typescript'] })
      .code.trim()
      .replaceAll(/\s|;/g, '') === ''
  );
}

describe('type of a schema', () => {
  test.each([
    [{ type: 'string' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'string', nullable: true }, 'string | null'],
    [{ enum: ['a', 'b', 1, null, true] }, '"a" | "b" | 1 | null | true'],
    [{ const: 'x' }, '"x"'],
    [{ type: 'array', items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
    [{ type: 'array' }, 'any[]'],
    [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] }, '[string, number]'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
    [{ oneOf: [{ type: 'string' }, {}] }, 'any'],
    [{ type: 'object' }, 'Record<string, any>'],
    [{ type: 'object', additionalProperties: false }, '{}'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [
      { allOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, {}] },
      '{\n  a: string;\n}',
    ],
    [{ $ref: '#/$defs/x', $defs: { x: { type: 'boolean' } } }, 'boolean'],
    [{ $ref: '#/properties/a~1b', properties: { 'a/b': { type: 'boolean' } } }, 'boolean'],
    [{ $ref: '#/nowhere' }, 'any'],
    [{ $ref: 'https://example.com/x' }, 'any'],
    [{ $ref: '#/constructor' }, 'any'],
    [true, 'any'],
    [false, 'never'],
    [undefined, 'any'],
    ['text', 'any'],
    [{ type: 7 }, 'any'],
  ])('schema type: of %j is %s', (schema, expected) => {
    expect(formatSchemaType(schema)).toBe(expected);
    expect(isOneType(formatSchemaType(schema))).toBe(true);
  });

  test('schema type: documents properties and marks optional ones', () => {
    const schema = {
      type: 'object',
      properties: {
        title: { type: 'string', description: 'What it is\ncalled.' },
        'odd-name': { type: 'array', items: { type: 'object', properties: { n: { type: 'number' } } } },
      },
      required: ['title'],
      additionalProperties: true,
    };
    expect(formatSchemaType(schema)).toBe(`{
  /** What it is called. */
  title: string;
  "odd-name"?: {
    n?: number;
  }[];
  [name: string]: any;
}`);
  });
});

describe('hostile schemas', () => {
  test('schema type: ends for recursive schemas', () => {
    const node = {
      type: 'object',
      properties: { next: { $ref: '#' }, list: { type: 'array', items: { $ref: '#' } } },
    };
    expect(formatSchemaType(node)).toBe(
      '{\n  next?: {\n    next?: any;\n    list?: any[];\n  };\n  list?: {\n    next?: any;\n    list?: any[];\n  }[];\n}',
    );
    const ring = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
    expect(formatSchemaType(ring)).toBe('any');
    const cyclic: Record<string, unknown> = { type: 'object' };
    cyclic['properties'] = { again: cyclic };
    expect(formatSchemaType(cyclic).length).toBeLessThan(1000);
  });

  test('schema type: stays short and valid for huge, wide or deep schemas', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, at) => [
        `property_${at}`,
        { type: 'string', description: 'x'.repeat(50) },
      ]),
    );
    let deep: object = { type: 'string' };
    for (let at = 0; at < 10_000; at += 1) deep = { type: 'object', properties: { a: deep, b: deep } };
    const wide = { anyOf: Array.from({ length: 10_000 }, (_, at) => ({ const: `value ${at}` })) };
    const bomb = {
      $defs: Object.fromEntries(
        Array.from({ length: 30 }, (_, at) => [
          `d${at}`,
          {
            type: 'object',
            properties: { l: { $ref: `#/$defs/d${at + 1}` }, r: { $ref: `#/$defs/d${at + 1}` } },
          },
        ]),
      ),
      $ref: '#/$defs/d0',
    };
    for (const schema of [
      { type: 'object', properties },
      deep,
      wide,
      bomb,
      { enum: ['x'.repeat(1_000_000)] },
    ]) {
      const type = formatSchemaType(schema);
      expect(type.length).toBeLessThan(80_000);
      expect(isOneType(type)).toBe(true);
    }
  });

  test('schema type: escapes text that would break out of a comment or a key', () => {
    const evil = '*/ }; process.exit(1); /* \u2028 // \n */ declare const x: {';
    const schema = {
      type: 'object',
      properties: {
        [evil]: { description: evil },
        '"; x: "': { enum: [evil, '"]; evil'] },
        ['__proto__']: { type: 'string' },
      },
    };
    const type = formatSchemaType(schema);
    expect(isOneType(type)).toBe(true);
    expect(type.split('\n')).toHaveLength(6);
    expect(type).toContain('__proto__?: string;');
    expect(type).not.toContain('\u2028');
  });
});

test('comment text: is one line and truncated', () => {
  expect(commentText('a */ b\n\u200bc', 100)).toBe('a *\\/ b c');
  expect(commentText('x'.repeat(50), 10)).toBe(`${'x'.repeat(10)}…`);
});

test('property key: is quoted when necessary', () => {
  expect(['a', '$a_1', '1a', 'a-b', '', '"'].map(propertyKey)).toEqual([
    'a',
    '$a_1',
    '"1a"',
    '"a-b"',
    '""',
    '"\\""',
  ]);
});
