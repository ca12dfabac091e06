import { describe, expect, test } from 'vitest';

import { readFormFields, parseAnswer } from './elicitation-form.ts';

const fields = readFormFields({
  type: 'object',
  required: ['name', 'age'],
  properties: {
    name: { type: 'string', title: 'Your name', description: 'As in the passport.' },
    age: { type: 'integer' },
    share: { type: 'number', default: 0.5 },
    agrees: { type: 'boolean' },
    colour: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
    size: {
      type: 'string',
      oneOf: [
        { const: 's', title: 'Small' },
        { const: 'l', title: 'Large' },
      ],
    },
    days: { type: 'array', items: { type: 'string', enum: ['mon', 'tue', 'wed'] } },
  },
});

function answer(key: string, line: string): unknown {
  const field = fields.find((each) => each.key === key);
  if (field === undefined) throw new Error(`There is no field ${key}.`);
  return parseAnswer(field, line);
}

describe('elicitation form', () => {
  test('form: shows title and description of each field and marks required fields', () => {
    expect(fields.slice(0, 2)).toMatchObject([
      { key: 'name', isRequired: true, label: 'Your name: As in the passport.', choices: [] },
      { key: 'age', isRequired: true, label: 'age', type: 'integer' },
    ]);
  });

  test.each([
    { key: 'name', line: ' Ada ', is: { value: ' Ada ' } },
    { key: 'name', line: '  ', is: { problem: 'This field is required.' } },
    { key: 'age', line: '36', is: { value: 36 } },
    { key: 'age', line: '36.5', is: { problem: 'Answer with a whole number.' } },
    { key: 'age', line: 'old', is: { problem: 'Answer with a whole number.' } },
    { key: 'share', line: '', is: { value: 0.5 } },
    { key: 'share', line: '1e1', is: { value: 10 } },
    { key: 'agrees', line: '', is: { value: undefined } },
    { key: 'agrees', line: 'Yes', is: { value: true } },
    { key: 'agrees', line: 'n', is: { value: false } },
    { key: 'agrees', line: 'perhaps', is: { problem: 'Answer yes or no.' } },
    { key: 'colour', line: '2', is: { value: 'g' } },
    { key: 'colour', line: 'Red', is: { value: 'r' } },
    { key: 'colour', line: '3', is: { problem: 'Choose one of the listed values.' } },
    { key: 'size', line: 's', is: { value: 's' } },
    { key: 'days', line: 'mon, 3', is: { value: ['mon', 'wed'] } },
    { key: 'days', line: 'mon, sun', is: { problem: 'Choose one of the listed values.' } },
  ])('form: reads field $key answered with "$line"', ({ key, line, is }) => {
    expect(answer(key, line)).toEqual(is);
  });

  test.each([[undefined], [null], [{ properties: 3 }], [{ properties: { a: null } }]])(
    'form: tolerates the malformed schema %j',
    (schema) => {
      expect(readFormFields(schema).length).toBeLessThanOrEqual(1);
    },
  );
});
