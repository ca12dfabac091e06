import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../../core/json.ts';
import { prepareSchema } from './prepare-schema.ts';
import { SchemaValidator } from './schema-validator.ts';
import { UndecidedError } from './step-budget.ts';

const a = { a: { type: 'string' } };

/** Schemas with a valid and an invalid value. */
const KEYWORDS: readonly (readonly [schema: JsonObject, valid: unknown, invalid: unknown])[] = [
  [{ type: 'integer' }, 1, 1.5],
  [{ type: ['string', 'null'] }, null, 1],
  [{ type: 'string', nullable: true }, null, 1],
  [{ type: 'boolean' }, false, 0],
  [{ const: { a: [1] } }, { a: [1] }, { a: [2] }],
  [{ enum: [1, 'x', { a: 1, b: 2 }] }, { b: 2, a: 1 }, { a: 1 }],
  [{ minimum: 1, maximum: 3 }, 3, 4],
  [{ exclusiveMinimum: 1, exclusiveMaximum: 3 }, 2, 1],
  [{ multipleOf: 0.01 }, 4.02, 4.025],
  [{ minLength: 2, maxLength: 3 }, '😀😀😀', '😀'],
  [{ pattern: '^a+$' }, 'aa', 'b'],
  [{ minItems: 1, maxItems: 2 }, [1], []],
  [
    { uniqueItems: true },
    [1, '1', { a: 1 }, [1], true, null, 'null'],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
  ],
  [{ contains: { type: 'string' }, minContains: 2, maxContains: 3 }, ['a', 1, 'b'], ['a', 1]],
  [{ contains: { type: 'string' }, maxContains: 1 }, ['a', 1], ['a', 'b']],
  [{ prefixItems: [{ type: 'string' }], items: false }, ['a'], ['a', 1]],
  [{ items: { type: 'string' } }, ['a'], ['a', 1]],
  [{ minProperties: 1, maxProperties: 2 }, { a: 1 }, {}],
  [{ required: ['a'] }, { a: null }, { b: 1 }],
  [{ propertyNames: { maxLength: 2 } }, { ab: 1 }, { abc: 1 }],
  [
    { properties: a, additionalProperties: { type: 'number' } },
    { a: 'x', b: 1 },
    { a: 'x', b: 'x' },
  ],
  [{ patternProperties: { '^x': { type: 'number' } }, additionalProperties: false }, { x1: 1 }, { y: 1 }],
  [{ dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }],
  [{ dependentSchemas: { a: { required: ['b'] } } }, { a: 1, b: 1 }, { a: 1 }],
  [{ dependencies: { a: ['b'], c: { required: ['d'] } } }, { a: 1, b: 1 }, { c: 1 }],
  [{ not: { type: 'string' } }, 1, 'a'],
  [{ allOf: [{ minimum: 1 }, { maximum: 3 }] }, 2, 4],
  [{ anyOf: [{ type: 'string' }, { minimum: 3 }] }, 3, 2],
  [{ oneOf: [{ type: 'integer' }, { minimum: 3 }] }, 2, 3],
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is a keyword of JSON Schema.
  [{ if: { type: 'string' }, then: { minLength: 2 }, else: { minimum: 2 } }, 'ab', 1],
  [{ properties: { a: false } }, { b: 1 }, { a: 1 }],
  [{ $ref: '#/$defs/x~1y', $defs: { 'x/y': { type: 'string' } } }, 'a', 1],
  [{ $ref: '#name', $defs: { x: { $anchor: 'name', type: 'string' } } }, 'a', 1],
  [{ allOf: [{ properties: a }], unevaluatedProperties: false }, { a: 'x' }, { a: 'x', b: 1 }],
  [{ allOf: [{ properties: a, unevaluatedProperties: false }], properties: { b: {} } }, { a: 'x' }, { b: 1 }],
  [
    { anyOf: [{ properties: a }, { properties: { b: { type: 'string' } } }], unevaluatedProperties: false },
    { a: 'x', b: 'x' },
    { a: 1, b: 'x' },
  ],
  [{ allOf: [{ prefixItems: [true] }], unevaluatedItems: { type: 'string' } }, [1, 'a'], [1, 2]],
];

describe('schema validator', () => {
  test.each(KEYWORDS)('schema validator: decides like Ajv for %j', (schema, valid, invalid) => {
    const validator = validatorOf(schema);
    const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 9 }).compile(schema);
    for (const [value, isValid] of [
      [valid, true],
      [invalid, false],
    ] as const) {
      expect(validator.validate(value).length === 0).toBe(isValid);
      expect(ajv(value)).toBe(isValid);
    }
  });

  test.each([
    [{ not: { pattern: '(a+)+b' } }, 'a'.repeat(100)],
    [{ patternProperties: { '(a+)+b': { type: 'string' } } }, { a: 1 }],
    [{ oneOf: [{ pattern: '(a+)+b' }, { minLength: 1 }] }, 'a'],
  ])(
    'schema validator: gives no verdict where one pattern that takes too long decides: %j',
    (schema, value) => {
      expect(() => validatorOf(schema).validate(value)).toThrow(UndecidedError);
    },
  );

  test('schema validator: treats inherited names such as constructor as absent', () => {
    const schema = { required: ['constructor'], properties: { toString: { type: 'string' } } };
    expect(
      validatorOf(schema)
        .validate({})
        .map(({ member }) => member),
    ).toEqual(['constructor']);
  });

  test('schema validator: validates 1,000 rows of ten fields within its budget', () => {
    const row = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`f${at}`, 'text']));
    const fields = Object.fromEntries(Object.keys(row).map((key) => [key, { type: 'string', maxLength: 9 }]));
    const schema = {
      items: { type: 'object', properties: fields, required: ['f0'], additionalProperties: false },
    };
    const rows: unknown[] = Array.from({ length: 1_000 }, () => row);
    expect(validatorOf(schema).validate(rows)).toEqual([]);
    expect(validatorOf(schema).validate([...rows, { ...row, f3: 1 }])).toMatchObject([
      { path: [1_000, 'f3'] },
    ]);
  });
});

function validatorOf(schema: JsonObject): SchemaValidator {
  const prepared = prepareSchema(schema);
  if (prepared === undefined) throw new Error('The schema cannot be enforced.');
  return new SchemaValidator(prepared);
}
