import { expect, test } from 'vitest';

import { compareDefinitions } from './compare-definitions.ts';

test('definition changes: lists each changed path with its old and new value', () => {
  const before = { name: 'a', description: 'x', inputSchema: { properties: { p: { type: 'string' } } } };
  const after = {
    name: 'a',
    description: 'y',
    inputSchema: { properties: { p: { type: 'string', description: 'q' } } },
    annotations: { readOnlyHint: true },
  };
  expect(compareDefinitions(before, after)).toEqual([
    { where: 'description', before: 'x', after: 'y' },
    { where: 'inputSchema.properties.p.description', after: 'q' },
    { where: 'annotations.readOnlyHint', after: 'true' },
  ]);
  expect(compareDefinitions(after, after)).toEqual([]);
});

test('definition changes: escapes invisible characters', () => {
  const [change] = compareDefinitions({ d: 'a\u200Bb' }, { d: 'ab\n\u202E\u{E0041}' });
  expect(change).toEqual({ where: 'd', before: 'a\\u{200b}b', after: 'ab\n\\u{202e}\\u{e0041}' });
});

test('definition changes: limits the number and the length of changes', () => {
  const huge = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, 'x'.repeat(10_000)]));
  const changes = compareDefinitions({}, huge);
  expect(changes).toHaveLength(200);
  expect(changes[0]?.after?.length).toBeLessThan(4100);
});

test('definition changes: show differences that formatting would hide', () => {
  expect(compareDefinitions({ d: '1' }, { d: 1 })).toEqual([{ where: 'd', before: '"1"', after: '1' }]);
  expect(compareDefinitions({ d: 'a\\u{200b}' }, { d: 'a\u200B' })).toEqual([
    { where: 'd', before: String.raw`"a\\u{200b}"`, after: String.raw`"a\u{200b}"` },
  ]);
});

test('definition changes: show a difference far into a long text', () => {
  const text = (word: string): string => `${'x'.repeat(5000)} ${word} ${'y'.repeat(5000)}`;
  const [change, ...others] = compareDefinitions({ d: text('good') }, { d: text('evil') });
  expect(others).toEqual([]);
  expect(change?.before).toContain('good');
  expect(change?.after).toContain('evil');
  expect(change?.after?.length).toBeLessThan(4100);
});
