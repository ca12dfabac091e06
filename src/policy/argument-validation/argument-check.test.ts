import { describe, expect, test } from 'vitest';

import { cpuStopwatch } from '../../../test/support/cpu-time.ts';
import { compileArgumentCheck as compile } from './argument-check.ts';

/** Returns the texts of the problems. */
function compileArgumentCheck(schema: unknown): ((args: unknown) => readonly string[]) | undefined {
  const check = compile(schema);
  return check && ((args) => check(args).map(({ text }) => text));
}

const draft07 = 'http://json-schema.org/draft-07/schema#';

describe('argument problems', () => {
  const check = compileArgumentCheck({
    type: 'object',
    properties: {
      a: { type: 'number' },
      kind: { enum: ['x', 'y'] },
      list: { type: 'array', items: { type: 'object', properties: { 'b/c': { type: 'string' } } } },
    },
    required: ['a'],
    additionalProperties: false,
  });

  test.each([
    [{}, ['a is required']],
    [{ a: 'x' }, ['a must be number']],
    [{ a: 1, kind: 'z' }, ['kind must be equal to one of the allowed values: ["x","y"]']],
    [{ a: 1, list: [{}, { 'b/c': 1 }] }, ['list[1].b/c must be string']],
    [{ a: 1, extra: 1 }, ['extra is not known']],
    [{ a: 1, kinds: 'x' }, ['kinds is not known; did you mean kind?']],
    [[], ['the arguments must be object']],
  ])('argument check: reports for %j: %j', (args, problems) => {
    expect(check?.(args)).toEqual(problems);
  });

  test('argument check: accepts valid arguments without changing them', () => {
    const args = Object.freeze({ a: 1, kind: 'x' });
    expect(check?.(args)).toEqual([]);
  });

  test('argument check: reports at most five problems', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`p${at}`, { type: 'string' }]),
    );
    const many = Object.fromEntries(Object.keys(properties).map((name) => [name, 1]));
    expect(compileArgumentCheck({ type: 'object', properties })?.(many)).toHaveLength(5);
  });
});

test('argument check: limits time and output for 20,000 unknown names', () => {
  const schema = {
    type: 'object',
    properties: { [`k${'x'.repeat(100_000)}`]: {}, kind: {} },
    additionalProperties: false,
  };
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`kin${at}`, 1]));
  const cpuMs = cpuStopwatch();
  const problems = compileArgumentCheck(schema)?.({ [`k${'y'.repeat(100_000)}`]: 1, ...many }) ?? [];
  expect(problems).toHaveLength(5);
  expect(problems.join('').length).toBeLessThan(2000);
  expect(cpuMs()).toBeLessThan(3_000);
});

describe('JSON Schema dialects', () => {
  const tuple = { type: 'array', items: [{ type: 'string' }] };
  const prefix = { type: 'array', prefixItems: [{ type: 'string' }] };
  const of = (list: object, dialect?: string) =>
    compileArgumentCheck({ ...(dialect && { $schema: dialect }), type: 'object', properties: { list } });

  test('dialect: is 2020-12 unless $schema says otherwise', () => {
    expect(of(prefix)?.({ list: [1] })).toEqual(['list[0] must be string']);
    expect(of(prefix, 'https://json-schema.org/draft/2020-12/schema')?.({ list: [1] })).toHaveLength(1);
    expect(of(tuple, draft07)?.({ list: [1] })).toEqual(['list[0] must be string']);
    expect(of(prefix, draft07)?.({ list: [1] })).toEqual([]);
  });

  test('dialect: resolves references inside a schema that has an $id', () => {
    const schema = {
      $id: 'https://example.com/tool.json',
      type: 'object',
      properties: { a: { $ref: '#/$defs/text' } },
      $defs: { text: { type: 'string' } },
    };
    expect(compileArgumentCheck(schema)?.({ a: 1 })).toEqual(['a must be string']);
  });
});

describe('schemas that cannot be compiled', () => {
  test.each([
    ['no schema', undefined],
    ['a schema that is not an object', 'x'],
    ['an unknown type', { type: 'text' }],
    ['a dangling reference', { properties: { a: { $ref: '#/$defs/none' } } }],
    ['an external reference', { $ref: 'https://example.com/schema.json' }],
    ['a schema that references itself directly', { $ref: '#' }],
    [
      'two definitions that reference each other',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ],
    ['an asynchronous schema', { $async: true, properties: { a: { $ref: '#/$defs/none' } } }],
    ['a schema of one megabyte', { type: 'object', description: 'x'.repeat(1_000_000) }],
    ['100,000 nested levels', nested(100_000)],
    ['definitions with exponential expansion', doubling(40)],
  ])('unusable schema: is not enforced and fails quickly: %s', (_, schema) => {
    const cpuMs = cpuStopwatch();
    expect(compileArgumentCheck(schema)).toBeUndefined();
    expect(cpuMs()).toBeLessThan(3_000);
  });

  test('recursive schema: is enforced, and very deep arguments pass', () => {
    const tree = {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
    };
    expect(compileArgumentCheck(tree)?.({ children: [{ children: [{ name: 1 }] }] })).toEqual([
      'children[0].children[0].name must be string',
    ]);
    let deep: object = {};
    for (let level = 0; level < 100_000; level += 1) deep = { children: [deep] };
    expect(compileArgumentCheck(tree)?.(deep)).toEqual([]);
  });
});

describe('patterns', () => {
  const pattern = (source: string) =>
    compileArgumentCheck({
      type: 'object',
      properties: { a: { pattern: source }, b: { pattern: `^${source}x$` } },
    });

  test('pattern: is enforced per property', () => {
    const check = pattern('^[a-z]+$');
    expect(check?.({ a: 'abc' })).toEqual([]);
    expect(check?.({ a: 'ABC' })).toHaveLength(1);
    expect(check?.({ a: 'abc', b: 'abc' })).toHaveLength(1);
  });

  test.each(['^(a+)+$', '^(a|a)*$', '(a*)*b', '^a*a*a*a*a*a*a*b$', '(x+x+)+y', '(a)\\1+b', '(', '[\\d-x]'])(
    'pattern: matches %s in bounded time',
    (source) => {
      const cpuMs = cpuStopwatch();
      for (const text of ['a'.repeat(50), 'a'.repeat(100_000), `${'x'.repeat(40)}!`])
        pattern(source)?.({ a: text });
      expect(cpuMs()).toBeLessThan(3_000);
    },
  );
});

function nested(levels: number): object {
  let schema: object = { type: 'string' };
  for (let level = 0; level < levels; level += 1) schema = { not: schema };
  return schema;
}

/** Returns a schema with a chain of definitions that each apply the next one twice. */
function doubling(count: number): object {
  const all = Array.from({ length: count }, (_, at) => {
    const next = { $ref: `#/$defs/d${at + 1}` };
    return [`d${at}`, { anyOf: [next, next] }] as const;
  });
  return { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(all), [`d${count}`]: { type: 'string' } } };
}

describe('hostile schemas and arguments', () => {
  const objects = Array.from({ length: 5_000 }, (_, at) => ({ at }));
  const properties = (count: number, schema: object): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, schema]));
  const list = (schema: object): object => ({ type: 'object', properties: { list: schema } });
  const patterns = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`a*a*b${at}`, {}]));
  let deep: unknown = [];
  for (let level = 0; level < 26; level += 1) deep = [deep];

  test.each([
    ['200 pattern properties', { patternProperties: patterns(200) }, { ['a'.repeat(210)]: 1 }],
    ['3,000 pattern properties', { patternProperties: patterns(3_000) }, { ['a'.repeat(210)]: 1 }],
    [
      'one pattern for many texts',
      list({ items: { pattern: 'a*a*b' } }),
      { list: Array(3_000).fill('a'.repeat(200)) },
    ],
    [
      'many unicode classes',
      {
        patternProperties: Object.fromEntries(
          Object.keys(patterns(2_000)).map((key) => [`${'\\p{L}'.repeat(10)}${key}`, {}]),
        ),
      },
      { a: 1 },
    ],
    ['unique objects', list({ uniqueItems: true }), { list: objects }],
    [
      'unique nested lists',
      list({ uniqueItems: true, items: { uniqueItems: true } }),
      {
        list: Array.from({ length: 100 }, (_, at) => Array.from({ length: 1_000 }, (__, to) => ({ at, to }))),
      },
    ],
    ['many objects in an enum', list({ items: { enum: objects.slice(0, 3_000) } }), { list: objects }],
    [
      'many long texts in an enum',
      list({ items: { enum: Array.from({ length: 180 }, (_, at) => `${'x'.repeat(1_000)}${100 + at}`) } }),
      { list: Array.from({ length: 4_000 }, () => `${'x'.repeat(1_000)}900`) },
    ],
    [
      'branches that each apply to all items',
      list({ allOf: Array(1_900).fill({ items: { minLength: 1 } }) }),
      { list: Array(10_000).fill('a') },
    ],
    [
      'references that double at each level',
      {
        $ref: '#/$defs/x',
        $defs: {
          x: { allOf: [{ additionalProperties: { $ref: '#/$defs/y' } }] },
          y: { allOf: [{ items: { $ref: '#/$defs/y' } }, { items: { $ref: '#/$defs/y' } }] },
        },
      },
      { list: deep },
    ],
    [
      'contains at each level',
      list({ contains: { contains: { contains: { const: 1 } } } }),
      { list: Array(60).fill(Array(60).fill(Array(60).fill(2))) },
    ],
    ['300,000 invalid items', list({ items: { type: 'string' } }), { list: Array(300_000).fill(1) }],
    [
      '3,000 properties with three keywords',
      { properties: properties(3_000, { type: 'string', maxLength: 9, enum: ['a', 'b'] }) },
      { p1: 'c' },
    ],
    [
      '1,000 references',
      {
        properties: Object.fromEntries(
          Array.from({ length: 1_000 }, (_, at) => [`p${at}`, { $ref: `#/$defs/p${at}` }]),
        ),
        $defs: properties(1_000, { type: 'string' }),
      },
      { p1: 1 },
    ],
    [
      'unevaluated properties behind many branches',
      { allOf: Array(1_900).fill({ patternProperties: { '': {} } }), unevaluatedProperties: false },
      properties(3_000, {}),
    ],
    [
      'many dependent schemas',
      { dependentSchemas: properties(3_000, { minProperties: 1, required: Array(10).fill('p1') }) },
      properties(3_000, {}),
    ],
    [
      'a length limit on a long text in many branches',
      list({ allOf: Array(1_900).fill({ minLength: 3_000_000 }) }),
      { list: 'é'.repeat(4_000_000) },
    ],
    [
      'numbers with extreme exponents',
      list({ items: { multipleOf: 1e-300 } }),
      { list: Array(50_000).fill(1e300) },
    ],
    [
      'similar names',
      {
        properties: Object.fromEntries(
          Array.from({ length: 1_500 }, (_, at) => [`${'x'.repeat(90)}${at}`, {}]),
        ),
        additionalProperties: false,
      },
      Object.fromEntries(
        Array.from({ length: 5_000 }, (_, at) => [`${'x'.repeat(80)}${'y'.repeat(12)}${at}`, 1]),
      ),
    ],
  ])('hostile schema: takes bounded time: %s', (_, schema, args) => {
    const cpuMs = cpuStopwatch();
    compileArgumentCheck(schema)?.(args);
    expect(cpuMs()).toBeLessThan(400);
  });
});
