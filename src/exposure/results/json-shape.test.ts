import { expect, test } from 'vitest';

import { formatShape, mergeShapes, shapeOf } from './json-shape.ts';

const shape = (value: unknown, maxChars?: number): string => formatShape(shapeOf(value), maxChars);

test('shape: names keys and types, never values', () => {
  const issue = {
    id: 7,
    title: 'secret',
    open: true,
    user: { login: 'ada' },
    labels: ['x'],
    milestone: null,
  };
  expect(shape([issue, issue])).toBe(
    '{id: number, title: string, open: boolean, user: {login: string}, labels: string[], milestone: null}[] (2)',
  );
});

test('shape: marks members that are not in every record, and unites types', () => {
  expect(shape([{ a: 1 }, { a: 'x', b: 2 }])).toBe('{a: number | string, b?: number}[] (2)');
  expect(shape([1, 'x', [2]])).toBe('(number | string | number[])[] (3)');
  expect(shape([])).toBe('unknown[] (0)');
});

test('shape: does not show keys that are data', () => {
  expect(shape({ 'ada@example.com says hello': 1, b: 2 })).toBe('Record<string, number>');
  const ids = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`u${at}`, { at }]));
  expect(shape(ids)).toBe('Record<string, {at: number}>');
  expect(shape([{ a: 1 }, { 'x y': 1 }])).toBe('Record<string, number>[] (2)');
});

test('shape: stays within its length and depth for any value', () => {
  const wide = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`member${at}`, { inner: { at } }]));
  expect(shape(wide, 100).length).toBeLessThanOrEqual(100);
  expect(shape(wide, 100)).toContain('…');
  let deep: unknown = 1;
  for (let level = 0; level < 5_000; level += 1) deep = level % 2 === 0 ? [deep] : { deep };
  expect(shape(deep).length).toBeLessThan(400);
});

test('shape: merges results of several calls and survives storage', () => {
  const both = mergeShapes(shapeOf([{ a: 1 }]), shapeOf([{ a: null, b: 'x' }]));
  expect(formatShape(JSON.parse(JSON.stringify(both)) as typeof both)).toBe(
    '{a: number | null, b?: string}[]',
  );
});
