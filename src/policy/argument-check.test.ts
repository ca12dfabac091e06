import { describe, expect, test } from 'vitest';

import { argumentCheck } from './argument-check.ts';

const draft07 = 'http://json-schema.org/draft-07/schema#';

describe('arguments that do not fit', () => {
  const check = argumentCheck({
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
  ])('%j: %j', (args, problems) => {
    expect(check?.(args)).toEqual(problems);
  });

  test('that do fit have no problems, and are not changed', () => {
    const args = Object.freeze({ a: 1, kind: 'x' });
    expect(check?.(args)).toEqual([]);
  });

  test('have few problems told, however many there are', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`p${at}`, { type: 'string' }]),
    );
    const many = Object.fromEntries(Object.keys(properties).map((name) => [name, 1]));
    expect(argumentCheck({ type: 'object', properties })?.(many)).toHaveLength(5);
  });
});

test('names that nobody knows, and there are without end, are told within bounds', () => {
  const schema = {
    type: 'object',
    properties: { [`k${'x'.repeat(100_000)}`]: {}, kind: {} },
    additionalProperties: false,
  };
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`kin${at}`, 1]));
  const started = process.cpuUsage();
  const problems = argumentCheck(schema)?.({ [`k${'y'.repeat(100_000)}`]: 1, ...many }) ?? [];
  expect(problems).toHaveLength(5);
  expect(problems.join('').length).toBeLessThan(2000);
  // Computing time, not time on the wall.
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(2000);
});

describe('dialects', () => {
  const tuple = { type: 'array', items: [{ type: 'string' }] };
  const prefix = { type: 'array', prefixItems: [{ type: 'string' }] };
  const of = (list: object, dialect?: string) =>
    argumentCheck({ ...(dialect && { $schema: dialect }), type: 'object', properties: { list } });

  test('are 2020-12 unless the schema says otherwise', () => {
    expect(of(prefix)?.({ list: [1] })).toEqual(['list[0] must be string']);
    expect(of(prefix, 'https://json-schema.org/draft/2020-12/schema')?.({ list: [1] })).toHaveLength(1);
    expect(of(tuple, draft07)?.({ list: [1] })).toEqual(['list[0] must be string']);
    expect(of(prefix, draft07)?.({ list: [1] })).toEqual([]);
  });

  test('do not matter for references within the schema, wherever it was published', () => {
    const schema = {
      $id: 'https://example.com/tool.json',
      type: 'object',
      properties: { a: { $ref: '#/$defs/text' } },
      $defs: { text: { type: 'string' } },
    };
    expect(argumentCheck(schema)?.({ a: 1 })).toEqual(['a must be string']);
  });
});

describe('a schema that cannot be compiled is not enforced', () => {
  test.each([
    ['none', undefined],
    ['no object', 'x'],
    ['an unknown type', { type: 'text' }],
    ['a reference to nowhere', { properties: { a: { $ref: '#/$defs/none' } } }],
    ['a reference to another place', { $ref: 'https://example.com/schema.json' }],
    ['one that is itself', { $ref: '#' }],
    [
      'two that are each other',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ],
    ['one that is asynchronous', { $async: true, properties: { a: { $ref: '#/$defs/none' } } }],
    ['a megabyte', { type: 'object', description: 'x'.repeat(1_000_000) }],
    ['a million levels', nested(100_000)],
    ['definitions that double', doubling(40)],
  ])('%s', (_, schema) => {
    const begin = performance.now();
    expect(argumentCheck(schema)).toBeUndefined();
    expect(performance.now() - begin).toBeLessThan(2_000);
  });

  test('but one that refers to itself in a member is', () => {
    const tree = {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
    };
    expect(argumentCheck(tree)?.({ children: [{ children: [{ name: 1 }] }] })).toEqual([
      'children[0].children[0].name must be string',
    ]);
    let deep: object = {};
    for (let level = 0; level < 100_000; level += 1) deep = { children: [deep] };
    expect(argumentCheck(tree)?.(deep)).toEqual([]);
  });
});

describe('patterns', () => {
  const pattern = (source: string) =>
    argumentCheck({ type: 'object', properties: { a: { pattern: source }, b: { pattern: `^${source}x$` } } });

  test('are enforced, each as itself', () => {
    const check = pattern('^[a-z]+$');
    expect(check?.({ a: 'abc' })).toEqual([]);
    expect(check?.({ a: 'ABC' })).toHaveLength(1);
    expect(check?.({ a: 'abc', b: 'abc' })).toHaveLength(1);
  });

  test.each(['^(a+)+$', '^(a|a)*$', '(a*)*b', '^a*a*a*a*a*a*a*b$', '(x+x+)+y', '(a)\\1+b', '(', '[\\d-x]'])(
    '%s takes no time, whatever it is matched with',
    (source) => {
      const begin = performance.now();
      for (const text of ['a'.repeat(50), 'a'.repeat(100_000), `${'x'.repeat(40)}!`])
        pattern(source)?.({ a: text });
      expect(performance.now() - begin).toBeLessThan(2_000);
    },
  );
});

function nested(levels: number): object {
  let schema: object = { type: 'string' };
  for (let level = 0; level < levels; level += 1) schema = { not: schema };
  return schema;
}

/** Each of them applies the next one twice. */
function doubling(count: number): object {
  const all = Array.from({ length: count }, (_, at) => {
    const next = { $ref: `#/$defs/d${at + 1}` };
    return [`d${at}`, { anyOf: [next, next] }] as const;
  });
  return { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(all), [`d${count}`]: { type: 'string' } } };
}
