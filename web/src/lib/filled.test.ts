import { expect, test } from 'vitest';

import { begun, missing } from './filled.ts';

const string = { type: 'string' };
const person = { type: 'object', properties: { name: string, age: { type: 'integer' } }, required: ['name'] };
const schema = {
  type: 'object',
  properties: {
    who: { $ref: '#/$defs/person' },
    others: { type: 'array', items: { $ref: '#/$defs/person' } },
    tags: { type: 'array', items: string },
    note: string,
  },
  required: ['who', 'tags', 'note'],
  $defs: { person },
};

test('a form begins with the groups and lists that must be there', () => {
  expect(begun(schema)).toEqual({ who: {}, tags: [] });
});

test('what is missing is named with where it is', () => {
  expect(missing(schema, begun(schema))).toEqual(['who.name', 'note']);
  expect(missing(schema, { who: { name: '' }, tags: [], note: '', others: [{ age: 1 }] })).toEqual([
    'others.1.name',
  ]);
});

test('a value of a list that was not given yet is missing', () => {
  const numbers = { type: 'object', properties: { all: { type: 'array', items: { type: 'number' } } } };
  expect(missing(numbers, { all: [1, undefined] })).toEqual(['all.2']);
});

test('a schema that leads to itself comes to an end', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, required: ['next'] };
  const endless = { ...node, $defs: { node } };
  expect(missing(endless, begun(endless))).toHaveLength(1);
});
