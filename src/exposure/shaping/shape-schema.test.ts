import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../../model/json.ts';
import type { SchemaRules } from './known-clients.ts';
import { shapeSchema } from './shape-schema.ts';

const shaped = (schema: JsonObject, rules: SchemaRules): JsonObject =>
  shapeSchema(schema, rules, true).schema;
const text = { type: 'string' };

describe('references', () => {
  const rules = { inlineReferences: true };

  test('are replaced by what they refer to, with what stands beside them', () => {
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
    expect(shapeSchema(schema, rules, true)).toEqual({
      schema: {
        type: 'object',
        properties: {
          a: { type: 'object', properties: { b: text }, description: 'An outer one.' },
          list: { type: 'array', items: text },
          either: { anyOf: [{ type: 'number' }, { type: 'null' }] },
        },
      },
      changes: ['references were replaced by what they refer to'],
    });
  });

  test('that go round in a circle, lead nowhere, elsewhere or too far leave the schema as it is', () => {
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
      const result = shapeSchema(schema, rules, true);
      expect(result.schema).toBe(schema);
      expect(result.changes).toEqual(['references were left, since they lead too far']);
    }
  });

  test('are found where schemas are, and nowhere else', () => {
    const schema = {
      type: 'object',
      properties: { $ref: text, format: { type: 'string', enum: ['$ref'], default: { $ref: '#/x' } } },
    };
    expect(shapeSchema(schema, rules, true)).toEqual({ schema, changes: [] });
  });
});

describe('alternatives at the root', () => {
  const rules = { plainRoot: true };

  test('become one object that requires what all of them do', () => {
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

  test('are left where they are deeper, and in output schemas', () => {
    const deep = { type: 'object', properties: { a: { anyOf: [text, { type: 'null' }] } } };
    expect(shaped(deep, rules)).toBe(deep);
    const output = { oneOf: [{ type: 'object' }, { type: 'null' }] };
    expect(shapeSchema(output, rules, false)).toEqual({ schema: output, changes: [] });
  });
});

describe('formats', () => {
  test('that a client does not take are left out, at every depth, and properties of that name stay', () => {
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

test('whatever is given as a schema, nothing throws and the original is not changed', () => {
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
      const after = shapeSchema(value, rules, true);
      expect(JSON.stringify(value)).toBe(before);
      expect(Object.keys(after.schema).some((key) => ['anyOf', 'allOf', 'oneOf'].includes(key))).toBe(false);
    }),
  );
});
