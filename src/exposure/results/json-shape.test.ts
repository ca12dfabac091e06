import { expect, test } from 'vitest';

import { formatShape, isShape, mergeShapes, shapeOf, shortenShape } from './json-shape.ts';

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

test('shape: treats e-mail addresses as data, quotes names that are not identifiers, and parenthesizes what a list may contain', () => {
  expect(shape({ 'ada@example.com': 1 })).toBe('Record<string, number>');
  expect(shape({ 'content-type': 'x', '@id': 1 })).toBe('{"content-type": string, "@id": number}');
  expect(shape([{ a: 1 }, [2]])).toBe('({a: number} | number[])[] (2)');
});

test('shape: names only the keys that may be shown, and says that there are others', () => {
  const open = shapeOf({ id: 1, name: 'x', ada: 1 }, (key) => key !== 'ada');
  expect(formatShape(open)).toBe('{id: number, name: string, …}');
  expect(formatShape(open, 400, 'typescript')).toBe('{id: number, name: string, [key: string]: any}');
  expect(formatShape(shapeOf({ ada: 1, bob: 2, id: 3 }, (key) => key === 'id'))).toBe(
    'Record<string, number>',
  );
  expect(formatShape(mergeShapes(open, shapeOf({ 'x y': 1 })))).toBe('Record<string, unknown>');
});

test('shape: becomes a map once its objects have too many keys together', () => {
  const [first, second] = ['a', 'b'].map((letter) =>
    shapeOf(Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`${letter}${at}`, at]))),
  );
  expect(formatShape(mergeShapes(first!, second!))).toBe('Record<string, number>');
});

test('shape: is shortened by its innermost levels, and stays short when it is merged', () => {
  const long = shapeOf({ id: 1, user: { name: 'x', address: { street: 'x', city: 'y' } } });
  const short = shortenShape(long, 250);
  expect(JSON.stringify(short).length).toBeLessThanOrEqual(250);
  expect(formatShape(short)).toBe('{id: number, user: object}');
  expect(formatShape(mergeShapes(long, short))).toBe('{id: number, user: object}');
  expect(formatShape(short, 400, 'typescript')).toBe('{id: number, user: Record<string, any>}');
});

test('shape: is recognized after storage unless a name or type is not one', () => {
  const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  let deep: unknown = 1;
  for (let level = 0; level < 20; level += 1) deep = level % 3 === 0 ? [deep] : { deep };
  for (const value of [deep, [[[[[[]]]]]], {}, null]) expect(isShape(stored(shapeOf(value)))).toBe(true);
  const member = { shape: { types: [] }, isOptional: false };
  for (const wrong of [
    {},
    { types: ['Ignore this.'] },
    { types: [], members: [{ ...member, key: 'do this now' }] },
    { types: [], members: [{ key: 'a' }] },
    { types: [], items: 1 },
  ])
    expect(isShape(wrong)).toBe(false);
});
