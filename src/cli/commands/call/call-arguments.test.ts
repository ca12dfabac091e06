import { describe, expect, test } from 'vitest';

import { stringifyExact } from '../../../core/lib/exact-json.ts';
import { buildCallArguments } from './call-arguments.ts';
import type { ArgumentPair } from './typed-arguments.ts';

const schema = {
  type: 'object',
  $defs: { level: { type: 'integer' } },
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    isOn: { type: 'boolean' },
    level: { $ref: '#/$defs/level' },
    tags: { type: 'array', items: { type: 'string' } },
    sizes: { type: 'array', items: { type: 'number' } },
    filter: { type: 'object' },
    nested: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        deep: { type: 'object', properties: { on: { type: 'boolean' } } },
      },
    },
    'dotted.name': { type: 'string' },
    maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    either: { type: ['string', 'integer'] },
    kind: { enum: [1, 2] },
    circle: { $ref: '#/properties/circle' },
  },
};

function read(...typed: string[]) {
  const pairs = typed.map((word): ArgumentPair => {
    const at = word.indexOf('=');
    return { key: word.slice(0, at), value: { text: word.slice(at + 1) } };
  });
  return buildCallArguments({ base: {}, pairs }, schema, 'server__tool');
}

describe('key=value arguments', () => {
  test.each([
    { word: 'text=12', is: { text: '12' } },
    { word: 'text=a=b', is: { text: 'a=b' } },
    { word: 'count=12', is: { count: 12 } },
    { word: 'isOn=true', is: { isOn: true } },
    { word: 'level=3', is: { level: 3 } },
    { word: 'tags=one', is: { tags: ['one'] } },
    { word: 'tags=["one","two"]', is: { tags: ['one', 'two'] } },
    { word: 'sizes=1.5', is: { sizes: [1.5] } },
    { word: 'filter={"a":1}', is: { filter: { a: 1 } } },
    { word: 'maybe=null', is: { maybe: null } },
    { word: 'maybe=4', is: { maybe: 4 } },
    { word: 'either=4', is: { either: '4' } },
    { word: 'kind=2', is: { kind: 2 } },
    { word: 'unknown=2', is: { unknown: '2' } },
    { word: 'filter.a=x', is: { filter: { a: 'x' } } },
    { word: 'nested.size=3', is: { nested: { size: 3 } } },
    { word: 'nested.deep.on=true', is: { nested: { deep: { on: true } } } },
    { word: 'nested.__proto__=x', is: { nested: Object.fromEntries([['__proto__', 'x']]) } },
    { word: 'dotted.name=x', is: { 'dotted.name': 'x' } },
    { word: 'circle=x', is: { circle: 'x' } },
  ])('call arguments: read $word by the type in the schema', ({ word, is }) => {
    expect(read(word)).toEqual(is);
  });

  test('call arguments: collect a repeated key into an array when the schema has one', () => {
    expect(read('tags=one', 'tags=two', 'tags=three')).toEqual({ tags: ['one', 'two', 'three'] });
  });

  test('call arguments: keep integers that JavaScript would round', () => {
    expect(stringifyExact(read('count=9223372036854775807'))).toBe('{"count":9223372036854775807}');
  });

  test('call arguments: cannot reach the prototype of an object', () => {
    const args = read('__proto__=x', 'constructor=y');
    expect(JSON.stringify(args)).toBe('{"__proto__":"x","constructor":"y"}');
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
  });

  test('call arguments: report every field that does not match the schema', () => {
    expect(() => read('count=many', 'isOn=yes', 'text=a', 'text=b', 'sizes=big', 'filter=x')).toThrow(
      expect.objectContaining({
        code: 'ARGUMENTS_INVALID',
        details: {
          problems: [
            'count must be an integer, but is "many"',
            'isOn must be a boolean, but is "yes"',
            'text is given twice',
            'sizes must be a number, but is "big"',
            'filter must be a JSON object, but is "x"',
          ],
        },
      }),
    );
  });
});

test('call arguments: prefer a key=value pair over the JSON object', () => {
  const words = { base: { count: 1, text: 'a' }, pairs: [{ key: 'count', value: { json: 2 } }] };
  expect(buildCallArguments(words, schema, 't')).toEqual({ count: 2, text: 'a' });
});

describe('argument names', () => {
  test.each([
    { word: 'txt=x', near: 'text' },
    { word: 'is_on=true', near: 'isOn' },
    { word: 'text.a=x', near: 'text' },
  ])('call arguments: suggests $near for $word', ({ word, near }) => {
    expect(() => read(word)).toThrow(`is not an argument. Did you mean ${near}?`);
  });

  test('call arguments: merges nested values with each other', () => {
    expect(read('nested.size=3', 'nested.deep.on=true')).toEqual({ nested: { size: 3, deep: { on: true } } });
  });

  test('call arguments: sends a name that resembles an argument which is also given', () => {
    expect(read('text=a', 'texts=b')).toEqual({ text: 'a', texts: 'b' });
  });
});
