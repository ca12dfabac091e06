import { expect, test } from 'vitest';

import { listParameters } from './parameters.ts';

test('parameters: list required ones first and describe types in words', () => {
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
    listParameters(schema).map(({ name, type, isRequired, description: about }) => [
      name,
      type,
      isRequired,
      about,
    ]),
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
])('parameters: tolerate the malformed schema %j', (schema) => {
  expect(listParameters(schema).length).toBeLessThanOrEqual(1);
});
