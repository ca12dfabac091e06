import fc from 'fast-check';
import { expect, test } from 'vitest';

import { learningShapes } from '../../../test/support/learning-shapes.ts';
import { memoryView } from '../../../test/support/memory-view.ts';
import type { ToolEntry } from '../../core/entry.ts';
import type { Fingerprint, UpstreamName } from '../../core/ids.ts';
import { Payload } from '../../core/lib/payload.ts';
import { formatShape } from './json-shape.ts';
import type { LearnedShapes } from './learned-shapes.ts';

const [read, other] = memoryView(['read', 'other']).tools as [ToolEntry, ToolEntry];

const textResult = (value: unknown, more: object = {}): Payload =>
  Payload.of({ content: [{ type: 'text', text: JSON.stringify(value) }], ...more });

async function learned(shapes: LearnedShapes, entry = read): Promise<string | undefined> {
  await shapes.flush();
  const shape = (await shapes.find([entry])).get(entry);
  return shape && formatShape(shape);
}

async function learnedFrom(...payloads: readonly Payload[]): Promise<string | undefined> {
  const { shapes } = learningShapes();
  for (const payload of payloads) shapes.observe(read, payload);
  return learned(shapes);
}

test('learned shape: is that of the JSON text, or of the structured content, without lengths', async () => {
  expect(await learnedFrom(textResult({ items: [{ id: 1 }], total: 1 }))).toBe(
    '{items: {id: number}[], total: number}',
  );
  expect(await learnedFrom(textResult('no', { structuredContent: { items: [[{ id: 'x' }]] } }))).toBe(
    '{items: {id: string}[][]}',
  );
  expect(
    await learnedFrom(textResult([{ id: 1 }]), Payload.of({ content: [{ type: 'text', text: 'None.' }] })),
  ).toBe('string | {id: number}[]');
});

test.each([
  ['an error', textResult({ id: 1 }, { isError: true })],
  ['a question', textResult({ id: 1 }, { resultType: 'input_required' })],
  ['an image', Payload.of({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/gif' }] })],
  [
    'structured content that wraps a text',
    Payload.of({ content: [{ type: 'text', text: 'x' }], structuredContent: { result: 'x' } }),
  ],
  ['more than 64 kB', textResult({ id: 'x'.repeat(65_536) })],
  ['no content', Payload.of({ content: [] })],
  ['a task', Payload.of({ task: { id: 'x' } })],
])('learned shape: ignores %s', async (_what, payload) => {
  expect(await learnedFrom(payload)).toBeUndefined();
});

test('learned shape: is not needed for tools with an output schema, and not kept for names that no database accepts', async () => {
  const { shapes } = learningShapes();
  const { definition } = read;
  for (const changed of [
    { ...definition, outputSchema: { type: 'object' } },
    { ...definition, name: 'a\u0000' },
    { ...definition, name: 'a'.repeat(201) },
  ]) {
    const entry = { ...read, definition: changed };
    shapes.observe(entry, textResult({ id: 1 }));
    expect(await learned(shapes, entry)).toBeUndefined();
  }
});

test('learned shape: is forgotten when the definition changes, and kept apart for each tool', async () => {
  const { shapes } = learningShapes();
  shapes.observe(read, textResult({ id: 1 }));
  const changed = { ...read, fingerprint: 'y' as Fingerprint };
  expect([await learned(shapes), await learned(shapes, changed), await learned(shapes, other)]).toEqual([
    '{id: number}',
    undefined,
    undefined,
  ]);
  shapes.observe(changed, textResult({ name: 'x' }));
  expect([await learned(shapes), await learned(shapes, changed)]).toEqual([undefined, '{name: string}']);
});

test('learned shape: is forgotten with its server', async () => {
  const { shapes } = learningShapes();
  shapes.observe(read, textResult({ id: 1 }));
  expect(await learned(shapes)).toBe('{id: number}');
  await shapes.forget(['mail' as UpstreamName]);
  expect(await learned(shapes)).toBe('{id: number}');
  await shapes.forget([read.upstream]);
  expect(await learned(shapes)).toBeUndefined();
});

test('learned shape: is neither learned nor shown if the setting is off', async () => {
  let isEnabled = false;
  const { shapes } = learningShapes({ isEnabled: () => isEnabled });
  shapes.observe(read, textResult({ id: 1 }));
  isEnabled = true;
  expect(await learned(shapes)).toBeUndefined();
  shapes.observe(read, textResult({ id: 1 }));
  expect(await learned(shapes)).toBe('{id: number}');
  isEnabled = false;
  expect(await learned(shapes)).toBeUndefined();
});

test('learned shape: comes from the first five results, and later from one of fifty', async () => {
  const { shapes } = learningShapes();
  const observe = async (value: unknown, times: number): Promise<string | undefined> => {
    for (let at = 0; at < times; at += 1) shapes.observe(read, textResult(value));
    return learned(shapes);
  };
  expect(await observe({ id: 1 }, 5)).toBe('{id: number}');
  expect(await observe({ id: 'x' }, 44)).toBe('{id: number}');
  expect(await observe({ id: 'x' }, 1)).toBe('{id: number | string}');
});

test('learned shape: takes 20 ms of each second and a bounded number of results at a time', async () => {
  let now = 0;
  // Each result takes the time between two looks at the clock.
  const { shapes } = learningShapes({ clock: () => (now += 7) });
  const entries = Array.from({ length: 30 }, (_, at) => ({
    ...read,
    definition: { ...read.definition, name: `tool${at}` },
  }));
  const count = async (): Promise<number> => {
    for (const entry of entries) shapes.observe(entry, textResult({ id: 1 }));
    await shapes.flush();
    return (await shapes.find(entries)).size;
  };
  expect(await count()).toBe(3);
  now += 1000;
  expect(await count()).toBe(3 + 0);
  const { shapes: quick } = learningShapes({ clock: () => 0 });
  for (const entry of entries) quick.observe(entry, textResult({ id: 1 }));
  await quick.flush();
  expect((await quick.find(entries)).size).toBe(16);
});

test('learned shape: is not read before the answer has been sent', async () => {
  const payload = textResult({ id: 1 });
  const { shapes } = learningShapes();
  let isRead = false;
  Object.defineProperty(payload, 'peek', {
    get: () => {
      isRead = true;
      return { content: [] };
    },
  });
  shapes.observe(read, payload);
  await Promise.resolve();
  expect(isRead).toBe(false);
  await shapes.flush();
  expect(isRead).toBe(true);
});

test('learned shape: reports once that it cannot be stored, and is still shown', async () => {
  const { shapes, problems } = learningShapes({ isStored: () => true });
  shapes.observe(read, textResult({ id: 1 }));
  expect(await learned(shapes)).toBe('{id: number}');
  shapes.observe(read, textResult({ name: 'x' }));
  expect(await learned(shapes)).toBe('{id?: number, name?: string}');
  expect(problems).toHaveLength(1);
});

test('learned shape: hides keys that are data', async () => {
  expect(await learnedFrom(textResult({ users: { ada: { role: 'x' }, bob: { role: 'x' } } }))).toBe(
    '{users: Record<string, {role: string}>}',
  );
  expect(await learnedFrom(textResult({ total: 2, ok: true, ada: 3 }))).toBe(
    '{total: number, ok: boolean, …}',
  );
  expect(await learnedFrom(textResult([{ usr_8f3k2: [1] }, { 'ada@example.com': [2] }]))).toBe(
    'Record<string, number[]>[]',
  );
});

/** Any JSON value whose strings, and some of whose keys, begin with `zq`, which no name of a field does. */
const secret = fc.string({ unit: 'grapheme' }).map((text) => `zq${text}`);
const name = fc.constantFrom('id', 'items', 'title', 'user', 'total');
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    secret,
    fc.integer({ min: 1_000_000 }),
    fc.constantFrom(null, true),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(name, name, name, secret), tie('value')),
  ),
}));

test('learned shape: contains no value and no key that is data, for any result', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 4 }), async (values) => {
      const { shapes } = learningShapes();
      for (const one of values) shapes.observe(read, textResult(one));
      await shapes.flush();
      const shape = (await shapes.find([read])).get(read);
      const stored = JSON.stringify(shape) ?? '';
      // Nothing but these words, braces and names of fields.
      const words = stored.match(/[^\s"{}[\]:,]+/g) ?? [];
      const allowed =
        /^(?:types|members|isOpen|values|items|key|shape|isOptional|true|false|string|number|boolean|null|object|unknown|id|title|user|total)$/;
      expect(words.filter((word) => !allowed.test(word))).toEqual([]);
    }),
  );
});
