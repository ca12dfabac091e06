import { describe, expect, test } from 'vitest';

import { fieldOf, membersOf, resolved } from './schema-field.ts';

describe('fieldOf', () => {
  test.each([
    [{ type: 'string' }, 'text'],
    [{ type: ['string', 'null'] }, 'text'],
    [{ type: 'integer', minimum: 1 }, 'number'],
    [{ type: 'boolean' }, 'switch'],
    [{ enum: ['a', 2, null] }, 'choice'],
    [{ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, 'choice'],
    [{ type: 'array', items: { type: 'string' } }, 'list'],
    [{ type: 'array' }, 'json'],
    [{ type: 'object', properties: { a: {} } }, 'group'],
    [{ type: 'object' }, 'json'],
    [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, 'json'],
    [{}, 'json'],
    [{ type: 7, enum: 'no list', properties: [] }, 'json'],
  ])('%j asks for a %s', (schema, kind) => {
    expect(fieldOf(schema, schema).kind).toBe(kind);
  });

  test('a form does not go deeper than somebody can see', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect(fieldOf(schema, schema, 4).kind).toBe('json');
  });
});

describe('references', () => {
  const root = {
    $defs: {
      place: { type: 'string', description: 'A place.' },
      'a/b': { type: 'integer' },
      loop: { $ref: '#/$defs/loop' },
    },
  };

  test('lead to what they name, and what stands beside them is nearer', () => {
    expect(resolved({ $ref: '#/$defs/place', description: 'Where to.' }, root)).toEqual({
      type: 'string',
      description: 'Where to.',
    });
    expect(resolved({ $ref: '#/$defs/a~1b' }, root)).toEqual({ type: 'integer' });
  });

  test('something or null is something', () => {
    expect(resolved({ anyOf: [{ $ref: '#/$defs/place' }, { type: 'null' }] }, root)['type']).toBe('string');
  });

  test.each(['#/$defs/loop', '#/nowhere', 'https://example.com/schema'])('%s ends', ($ref) => {
    expect(fieldOf(resolved({ $ref }, root), root).kind).toBe('json');
  });
});

test('what is required comes first', () => {
  const schema = { properties: { a: {}, b: {}, c: {} }, required: ['c'] };
  expect(membersOf(schema, schema).map(({ name }) => name)).toEqual(['c', 'a', 'b']);
});
