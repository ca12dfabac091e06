import { expect, test } from 'vitest';

import { cpuStopwatch } from '../../../test/support/cpu-time.ts';
import { matchesGlob } from './matches-glob.ts';

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
])('glob: matching %j against %j gives %j', (text, glob, expected) => {
  expect(matchesGlob(text, glob)).toBe(expected);
});

test('glob: matches a pattern with many stars against a long text quickly', () => {
  const cpuMs = cpuStopwatch();
  // With backtracking over all stars, the first would take seconds, and the second would not end.
  for (const [length, stars] of [
    [1200, 3],
    [10_000, 50],
  ] as const) {
    expect(matchesGlob('a'.repeat(length), `${'*a'.repeat(stars)}b`)).toBe(false);
    expect(cpuMs()).toBeLessThan(1000);
  }
});
