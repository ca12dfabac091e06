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
