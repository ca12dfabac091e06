import { expect, test } from 'vitest';

import { sanitizeLabel } from './sanitize-label.ts';

test.each([
  ['plain', 'plain'],
  [' two\n\tlines ', 'two lines'],
  ['evil\u202egnp.exe', 'evilgnp.exe'],
  ['zero\u200bwidth\ufeff', 'zerowidth'],
  ['esc\u001b[31m', 'esc[31m'],
])('label: shows %j as %j', (text, expected) => {
  expect(sanitizeLabel(text)).toBe(expected);
});

test('label: truncates long text between characters', () => {
  expect(sanitizeLabel('😀'.repeat(10), 4)).toBe('😀😀😀…');
});
