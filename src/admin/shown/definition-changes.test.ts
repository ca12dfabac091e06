import { expect, test } from 'vitest';

import { definitionChanges } from './definition-changes.ts';

test('names each place with what was there and what is there now', () => {
  const before = { name: 'a', description: 'x', inputSchema: { properties: { p: { type: 'string' } } } };
  const after = {
    name: 'a',
    description: 'y',
    inputSchema: { properties: { p: { type: 'string', description: 'q' } } },
    annotations: { readOnlyHint: true },
  };
  expect(definitionChanges(before, after)).toEqual([
    { where: 'description', before: 'x', after: 'y' },
    { where: 'inputSchema.properties.p.description', after: 'q' },
    { where: 'annotations.readOnlyHint', after: 'true' },
  ]);
  expect(definitionChanges(after, after)).toEqual([]);
});

test('shows characters that do not show', () => {
  const [change] = definitionChanges({ d: 'a\u200Bb' }, { d: 'ab\n\u202E\u{E0041}' });
  expect(change).toEqual({ where: 'd', before: 'a\\u{200b}b', after: 'ab\n\\u{202e}\\u{e0041}' });
});

test('keeps within bounds, whatever a server sends', () => {
  const huge = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, 'x'.repeat(10_000)]));
  const changes = definitionChanges({}, huge);
  expect(changes).toHaveLength(200);
  expect(changes[0]?.after?.length).toBeLessThan(4100);
});
