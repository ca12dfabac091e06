import { describe, expect, test } from 'vitest';

import { cpuStopwatch } from '../../test/support/cpu-time.ts';
import type { ToolEntry } from '../core/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../core/ids.ts';
import { firstSentence, formatSignature } from './format-signature.ts';

function tool(inputSchema: unknown): ToolEntry {
  return {
    kind: 'tool',
    upstream: 's' as UpstreamName,
    fingerprint: 'x' as Fingerprint,
    name: 's__t' as ExposedName,
    definition: { name: 't', inputSchema },
  };
}

const of = (properties: object, rest: object = {}): string =>
  formatSignature(tool({ type: 'object', properties, ...rest }));

/** A tool whose parameters all refer to the same schema. */
function reused(schema: object): ToolEntry {
  const named = (count: number, value: object): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, value]));
  const union = {
    anyOf: Array.from({ length: 8 }, () => ({ anyOf: Array.from({ length: 8 }, () => ({})) })),
  };
  const $defs = {
    schema,
    wide: { properties: named(60, union) },
    many: { properties: named(100_000, {}) },
  };
  return tool({ properties: named(60, { $ref: '#/$defs/schema' }), $defs });
}

describe('tool signature', () => {
  test('signature: lists required parameters first and marks optional ones', () => {
    const properties = { a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'boolean' } };
    expect(of(properties, { required: ['c'] })).toBe('s__t(c: boolean, a?: string, b?: integer)');
  });

  test.each([
    [{ enum: ['x', 'y'] }, '"x"|"y"'],
    [{ type: 'string', enum: Array.from({ length: 40 }, (_, at) => `value ${at}`) }, 'string, …'],
    [{ const: 1 }, '1'],
    [{ type: 'array', items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { enum: ['x', 'y'] } }, '("x"|"y")[]'],
    [{ type: 'array' }, 'any[]'],
    [{ type: ['string', 'null'] }, 'string'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] }, 'string|number'],
    [{ $ref: '#/$defs/d' }, 'number'],
    [{ $ref: '#/$defs/none' }, 'any'],
    [{ $ref: '#' }, 'any'],
    [{ $ref: '#/$defs/self' }, 'any'],
    [{ properties: {} }, 'object'],
    [{}, 'any'],
    [true, 'any'],
    [{ type: 'no\ntype' }, 'any'],
    [{ enum: ['a\n- b\u2028c'] }, '"a\\n- b c"'],
  ])('signature: shows %j as %s', (schema, shown) => {
    const $defs = { d: { type: 'number' }, self: { $ref: '#/$defs/self' } };
    expect(of({ p: schema }, { required: ['p'], $defs })).toBe(`s__t(p: ${shown})`);
  });

  test('signature: is short and marks omissions', () => {
    const many = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`parameter_${at}`, { type: 'string' }]),
    );
    const text = of({ ...many, needed: { enum: ['one', 'two'] } }, { required: ['needed'] });
    expect(text).toMatch(/^s__t\(needed: string, parameter_0\?: string, .*, …\)$/);
    expect(text.length).toBeLessThan(330);
    const needy = of(many, { required: Object.keys(many) });
    expect(needy).toMatch(/^s__t\(parameter_0, parameter_1, .*, …\)$/);
    expect(needy.length).toBeLessThan(330);
  });

  test.each([[undefined], [null], ['x'], [[]], [{ properties: 5, required: 5 }]])(
    'signature: has no parameters for the schema %j',
    (schema) => {
      expect(formatSignature(tool(schema))).toBe('s__t()');
    },
  );

  test('signature: takes bounded time for a schema of megabytes', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, at) => [`p${at}`, { type: 'string' }]),
    );
    const cpuMs = cpuStopwatch();
    expect(of(properties)).toMatch(/…\)$/);
    expect(cpuMs()).toBeLessThan(3_000);
  });

  test.each([
    [
      'alternatives that multiply',
      () => reused({ anyOf: Array.from({ length: 8 }, () => ({ $ref: '#/$defs/wide' })) }),
    ],
    ['references to a schema with many members', () => reused({ $ref: '#/$defs/many' })],
    [
      'references to long values',
      () => reused({ enum: Array.from({ length: 30 }, () => 'x'.repeat(1_000_000)) }),
    ],
    ['references to a long name', () => reused({ properties: { ['x'.repeat(1_000_000)]: {} } })],
    [
      'long references',
      () => reused({ anyOf: Array.from({ length: 8 }, () => ({ $ref: '#'.repeat(1_000_000) })) }),
    ],
  ])('signature: takes bounded time for %s', (_, schema) => {
    const value = schema();
    const cpuMs = cpuStopwatch();
    expect(formatSignature(value)).toMatch(/^s__t\(/);
    expect(cpuMs()).toBeLessThan(300);
  });

  test('signature: quotes parameter names that could be misread', () => {
    expect(of({ 'a\n) [read]': { type: 'string' } })).toBe('s__t("a ) [read]"?: string)');
  });
});

describe('first sentence', () => {
  test.each([
    ['One. Two.', 'One.'],
    ['One, e.g. this. Two.', 'One, e.g. this.'],
    ['Version 1.5 of it! More', 'Version 1.5 of it!'],
    ['  One\n  line\u2028only ', 'One line only'],
    ['查询天气。然后', '查询天气。'],
    ['', ''],
    [undefined, ''],
    [5, ''],
  ])('first sentence: of %j is %j', (text, sentence) => {
    expect(firstSentence(text)).toBe(sentence);
  });

  test('first sentence: is truncated at a word and never inside a character', () => {
    expect(firstSentence('some words that go on', 14)).toBe('some words…');
    expect(firstSentence('🚀'.repeat(20), 5)).toBe('🚀🚀…');
    expect(firstSentence('x'.repeat(1_000_000)).length).toBeLessThan(130);
  });
});
