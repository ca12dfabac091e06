import { expect, test } from 'vitest';

import { counted, label } from './label.ts';

test.each([
  ['plain', 'plain'],
  [' two\n\tlines ', 'two lines'],
  ['evil\u202egnp.exe', 'evilgnp.exe'],
  ['zero\u200bwidth\ufeff', 'zerowidth'],
  ['esc\u001b[31m', 'esc[31m'],
])('%j is shown as %j', (text, shown) => {
  expect(label(text)).toBe(shown);
});

test('long texts are cut between characters', () => {
  expect(label('😀'.repeat(10), 4)).toBe('😀😀😀…');
});

test('one of something is not several', () => {
  expect([counted(0, 'tool'), counted(1, 'tool'), counted(2, 'tool')]).toEqual([
    '0 tools',
    '1 tool',
    '2 tools',
  ]);
});
