import { expect, test } from 'vitest';
import { matchesGlob } from './glob.ts';

test.each([
  ['read_file', '*', true],
  ['read_file', 'read_*', true],
  ['read_file', '*_file', true],
  ['read_file', 'read?file', true],
  ['read_file', 'read', false],
  ['read_file', 'write_*', false],
  ['', '*', true],
  ['', '', true],
  ['', '?', false],
  ['a.b', 'a.b', true],
  ['axb', 'a.b', false],
  ['aXbXc', '*X*X*', true],
  ['abc', '**c', true],
])('%j against %j is %j', (text, glob, expected) => {
  expect(matchesGlob(text, glob)).toBe(expected);
});

test('a pattern full of stars ends soon on a long text', () => {
  expect(matchesGlob('a'.repeat(10_000), `${'*a'.repeat(50)}b`)).toBe(false);
});
