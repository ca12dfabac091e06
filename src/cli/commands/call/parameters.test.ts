import { expect, test } from 'vitest';

import { parametersOf } from './parameters.ts';

test('required parameters come first, and types are told in words', () => {
  const schema = {
    type: 'object',
    required: ['to', 'body'],
    $defs: { address: { type: 'string' }, loop: { $ref: '#/$defs/loop' } },
    properties: {
      cc: { type: 'array', items: { $ref: '#/$defs/address' }, description: 'Copies.' },
      to: { $ref: '#/$defs/address', title: 'Whom' },
      kind: { enum: ['a', 'b'], default: 'a', description: 'Which.' },
      size: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      list: { type: 'array', items: { type: ['string', 'null'] } },
      one: { const: 1 },
      loop: { $ref: '#/$defs/loop' },
      odd: true,
      body: { type: 'object' },
    },
  };
  expect(
    parametersOf(schema).map(({ name, type, isRequired, about }) => [name, type, isRequired, about]),
  ).toEqual([
    ['to', 'string', true, 'Whom'],
    ['body', 'object', true, ''],
    ['cc', 'string[]', false, 'Copies.'],
    ['kind', '"a" | "b"', false, 'Which. (default: "a")'],
    ['size', 'integer | null', false, ''],
    ['list', '(string | null)[]', false, ''],
    ['one', '1', false, ''],
    ['loop', 'any', false, ''],
    ['odd', 'any', false, ''],
  ]);
});

test.each([
  [undefined],
  [null],
  ['x'],
  [{}],
  [{ properties: [] }],
  [{ properties: { a: 5 }, required: 'a' }],
])('a schema that is none, %j, is no trouble', (schema) => {
  expect(parametersOf(schema).length).toBeLessThanOrEqual(1);
});
