import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { cpuStopwatch } from '../../../test/support/cpu-time.ts';
import type { JsonObject } from '../../core/json.ts';
import type { SchemaRules } from './known-clients.ts';
import { rewriteSchema } from './rewrite-schema.ts';

const shaped = (schema: JsonObject, rules: SchemaRules): JsonObject =>
  rewriteSchema(schema, rules, true).schema;
const text = { type: 'string' };

test('large schema: becomes any object only if it would have to be rewritten', () => {
  const properties = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`p${at}`, text]));
  const plain = { type: 'object', properties };
  expect(shaped(plain, { plainRoot: true })).toBe(plain);
  const changes = ['it is too large to rewrite and was left out'];
  for (const rules of [{ inlineReferences: true }, { formats: [] }, { plainRoot: true }])
    expect(rewriteSchema({ ...plain, anyOf: [] }, rules, true)).toEqual({
      schema: { type: 'object' },
      changes,
    });
});

describe('schema references', () => {
  const rules = { inlineReferences: true };

  test('schema references: are inlined together with their sibling keywords', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/Outer', description: 'An outer one.' },
        list: { type: 'array', items: { $ref: '#/$defs/Inner' } },
        either: { anyOf: [{ $ref: '#/definitions/Old' }, { type: 'null' }] },
      },
      $defs: { Outer: { type: 'object', properties: { b: { $ref: '#/$defs/Inner' } } }, Inner: text },
      definitions: { Old: { type: 'number' } },
    };
    expect(rewriteSchema(schema, rules, true)).toEqual({
      schema: {
        type: 'object',
        properties: {
          a: { type: 'object', properties: { b: text }, description: 'An outer one.' },
          list: { type: 'array', items: text },
          either: { anyOf: [{ type: 'number' }, { type: 'null' }] },
        },
      },
      changes: ['references were replaced by their targets'],
    });
  });

  test('schema references: are kept when recursive, unresolvable, external or too large', () => {
    const bomb = Object.fromEntries(
      Array.from({ length: 15 }, (_, at) => [
        `L${at}`,
        {
          type: 'object',
          properties: { a: { $ref: `#/$defs/L${at + 1}` }, b: { $ref: `#/$defs/L${at + 1}` } },
        },
      ]),
    );
    for (const [reference, $defs] of [
      ['#/$defs/Self', { Self: { type: 'object', properties: { again: { $ref: '#/$defs/Self' } } } }],
      ['#/$defs/None', {}],
      ['https://example.com/schema', {}],
      ['#/$defs/L0', { ...bomb, L15: text }],
      ['#/%zz', {}],
    ] as const) {
      const schema = { type: 'object', properties: { a: { $ref: reference } }, $defs };
      const result = rewriteSchema(schema, rules, true);
      expect(result.schema).toBe(schema);
      expect(result.changes).toEqual([
        'references were kept, because they are circular, unresolvable or too large to inline',
      ]);
    }
  });

  test('schema references: are recognised only where schemas can stand', () => {
    const schema = {
      type: 'object',
      properties: { $ref: text, format: { type: 'string', enum: ['$ref'], default: { $ref: '#/x' } } },
    };
    expect(rewriteSchema(schema, rules, true)).toEqual({ schema, changes: [] });
  });
});

describe('alternatives at the root of a schema', () => {
  const rules = { plainRoot: true };

  test('root alternatives: are merged into one object that requires what all of them require', () => {
    const schema = {
      type: 'object',
      properties: { to: text },
      required: ['to'],
      anyOf: [
        { properties: { raw: text, all: text }, required: ['raw', 'all'] },
        { properties: { subject: text, all: text }, required: ['all'] },
      ],
      allOf: [
        { properties: { extra: { type: 'number' } }, required: ['extra'] },
        { oneOf: [{ required: ['deep'] }] },
      ],
      additionalProperties: false,
    };
    expect(shaped(schema, rules)).toEqual({
      type: 'object',
      properties: { to: text, raw: text, all: text, subject: text, extra: { type: 'number' } },
      required: ['to', 'extra', 'deep', 'all'],
      additionalProperties: false,
    });
  });

  test('root alternatives: are kept below the root and in output schemas', () => {
    const deep = { type: 'object', properties: { a: { anyOf: [text, { type: 'null' }] } } };
    expect(shaped(deep, rules)).toBe(deep);
    const output = { oneOf: [{ type: 'object' }, { type: 'null' }] };
    expect(rewriteSchema(output, rules, false)).toEqual({ schema: output, changes: [] });
  });
});

describe('hostile schemas', () => {
  const wide = (count: number, schema: object): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, schema]));

  test('schema references: are left if inlining them would make the definition large', () => {
    const schema = {
      type: 'object',
      properties: wide(900, { $ref: '#/$defs/big' }),
      $defs: { big: { description: 'x'.repeat(700_000) } },
    };
    const { schema: rewritten, changes } = rewriteSchema(schema, { inlineReferences: true }, true);
    expect(JSON.stringify(rewritten).length).toBeLessThan(1_000_000);
    expect(changes).toEqual([
      'references were kept, because they are circular, unresolvable or too large to inline',
    ]);
  });

  test('schema references: are left once the definitions of a server have grown by 2 MB', () => {
    const growth = { left: 2_000_000 };
    const schema = {
      properties: wide(10, { $ref: '#/$defs/big' }),
      $defs: { big: { description: 'x'.repeat(19_000) } },
    };
    const sizes = Array.from({ length: 30 }, () => {
      const { schema: rewritten } = rewriteSchema(schema, { inlineReferences: true }, true, growth);
      return JSON.stringify(rewritten).length;
    });
    expect(sizes[0]).toBeGreaterThan(190_000);
    expect(sizes.at(-1)).toBeLessThan(20_000);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(3_000_000);
  });

  test('schema alternatives: are merged in time linear in their number', () => {
    const anyOf = Array.from({ length: 2_400 }, (_, at) => ({ properties: { [`p${at}`]: text } }));
    const cpuMs = cpuStopwatch();
    const { schema } = rewriteSchema({ type: 'object', anyOf }, { plainRoot: true }, true);
    expect(Object.keys(schema['properties'] as object)).toHaveLength(2_400);
    expect(cpuMs()).toBeLessThan(1_000);
  });
});

describe('formats', () => {
  test('formats: are removed at every depth when the client does not support them', () => {
    const schema = {
      type: 'object',
      properties: {
        url: { type: 'string', format: 'uri' },
        at: { type: 'string', format: 'date-time' },
        format: { type: 'string', format: 'email' },
        all: { type: 'array', items: [{ type: 'string', format: 'int64' }] },
      },
    };
    expect(shaped(schema, { formats: ['enum', 'date-time'] })).toEqual({
      type: 'object',
      properties: {
        url: text,
        at: { type: 'string', format: 'date-time' },
        format: text,
        all: { type: 'array', items: [text] },
      },
    });
  });
});

test('schema shaping: never throws, changes the original or leaves root alternatives', () => {
  const rules = { plainRoot: true, inlineReferences: true, formats: ['date-time'] };
  const keyword = fc.constantFrom(
    'properties',
    'anyOf',
    'allOf',
    'items',
    '$defs',
    '$ref',
    'format',
    'required',
    'not',
  );
  const { schema } = fc.letrec((tie) => ({
    schema: fc.dictionary(keyword, tie('value'), { maxKeys: 4 }),
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom('#/$defs/a', '#/properties', 'uri', 1, null, true),
      tie('schema'),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
  }));
  fc.assert(
    fc.property(schema, (value) => {
      const before = JSON.stringify(value);
      const after = rewriteSchema(value, rules, true);
      expect(JSON.stringify(value)).toBe(before);
      expect(Object.keys(after.schema).some((key) => ['anyOf', 'allOf', 'oneOf'].includes(key))).toBe(false);
    }),
  );
});
