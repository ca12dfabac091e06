import { describe, expect, test } from 'vitest';

import { toSchemaField, listMembers, resolveReferences } from './schema-field.ts';

describe('fieldOf', () => {
  test.each([
    [{ type: 'string' }, 'text'],
    [{ type: ['string', 'null'] }, 'text'],
    [{ type: 'integer', minimum: 1 }, 'number'],
    [{ type: 'boolean' }, 'boolean'],
    [{ enum: ['a', 2, null] }, 'choice'],
    [{ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, 'choice'],
    [{ type: 'array', items: { type: 'string' } }, 'list'],
    [{ type: 'array' }, 'json'],
    [{ type: 'object', properties: { a: {} } }, 'group'],
    [{ type: 'object' }, 'json'],
    [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, 'json'],
    [{}, 'json'],
    [{ type: 7, enum: 'no list', properties: [] }, 'json'],
  ])('schema field: shows %j as a %s field', (schema, kind) => {
    expect(toSchemaField(schema, schema).kind).toBe(kind);
  });

  test('schema field: falls back to JSON beyond four levels', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect(toSchemaField(schema, schema, 4).kind).toBe('json');
  });
});

describe('schema references', () => {
  const root = {
    $defs: {
      place: { type: 'string', description: 'A place.' },
      'a/b': { type: 'integer' },
      loop: { $ref: '#/$defs/loop' },
    },
  };

  test.each(['#/%', '#/%E0%A4%A', '#/constructor', '#/$defs/__proto__/x'])(
    'schema reference: %s, which leads nowhere, is left as it is',
    ($ref) => {
      expect(resolveReferences({ $ref }, root)).toEqual({ $ref });
    },
  );

  test('schema reference: resolves to its definition, overridden by sibling keywords', () => {
    expect(resolveReferences({ $ref: '#/$defs/place', description: 'Where to.' }, root)).toEqual({
      type: 'string',
      description: 'Where to.',
    });
    expect(resolveReferences({ $ref: '#/$defs/a~1b' }, root)).toEqual({ type: 'integer' });
  });

  test('schema reference: treats a nullable type as the type', () => {
    expect(resolveReferences({ anyOf: [{ $ref: '#/$defs/place' }, { type: 'null' }] }, root)['type']).toBe(
      'string',
    );
  });

  test.each(['#/$defs/loop', '#/nowhere', 'https://example.com/schema'])(
    'schema reference: falls back to JSON for %s',
    ($ref) => {
      expect(toSchemaField(resolveReferences({ $ref }, root), root).kind).toBe('json');
    },
  );
});

test('schema members: lists required ones first', () => {
  const schema = { properties: { a: {}, b: {}, c: {} }, required: ['c'] };
  expect(listMembers(schema, schema).map(({ name }) => name)).toEqual(['c', 'a', 'b']);
});
