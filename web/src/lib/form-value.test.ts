import { expect, test } from 'vitest';

import { initialValue, missingFields } from './form-value.ts';

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

test('form: starts with required groups and lists', () => {
  expect(initialValue(schema)).toEqual({ who: {}, tags: [] });
});

test('form: names missing fields with their path', () => {
  expect(missingFields(schema, initialValue(schema))).toEqual(['who.name', 'note']);
  expect(missingFields(schema, { who: { name: '' }, tags: [], note: '', others: [{ age: 1 }] })).toEqual([
    'others.1.name',
  ]);
});

test('form: fields named like inherited members are missing until they have a value', () => {
  const names = ['constructor', 'toString', '__proto__'];
  const properties = Object.fromEntries(names.map((name) => [name, string]));
  const hostile = { type: 'object', properties, required: names };
  expect(missingFields(hostile, initialValue(hostile))).toEqual(names);
});

test('form: reports an empty list item as missing', () => {
  const numbers = { type: 'object', properties: { all: { type: 'array', items: { type: 'number' } } } };
  expect(missingFields(numbers, { all: [1, undefined] })).toEqual(['all.2']);
});

test('form: handles a recursive schema', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, required: ['next'] };
  const endless = { ...node, $defs: { node } };
  expect(missingFields(endless, initialValue(endless))).toHaveLength(1);
});
