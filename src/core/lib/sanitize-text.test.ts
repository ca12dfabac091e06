import { expect, test } from 'vitest';

import { sanitizeText } from './sanitize-text.ts';

test('quoted text of a server: has one line without control and invisible characters, and a bounded length', () => {
  expect(sanitizeText(' a\r\nb\u2028\u202ec\u{e0041}\u001b[2J ')).toBe('a b c [2J');
  expect(sanitizeText('x'.repeat(1_000_000))).toBe('x'.repeat(500));
});
