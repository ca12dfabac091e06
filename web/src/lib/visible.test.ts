import { expect, test } from 'vitest';

import { visible } from './visible.ts';

test.each([
  ['\u202Edesrever', String.raw`\u{202e}desrever`],
  ['a\u200Bb', String.raw`a\u{200b}b`],
  ['\u001B[2J', String.raw`\u{1b}[2J`],
  ['\u{E0041}', String.raw`\u{e0041}`],
  ['a\uFE0F', String.raw`a\u{fe0f}`],
  ['x\uFE0F\uFE0F', String.raw`x\u{fe0f}\u{fe0f}`],
  ['a\rb', String.raw`a\u{d}b`],
])('%j is shown as %s', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test.each(['a\n\tb', '⚠️ careful', '👩🏽‍💻', 'Grüße, 你好'])('%j stays as it is', (text) => {
  expect(visible(text)).toBe(text);
});

test('lines that end as on Windows are lines', () => {
  expect(visible('a\r\nb')).toBe('a\nb');
});

test('a picture hides nothing behind it', () => {
  expect(visible('⚠️\uFE0F\u200D')).toBe(String.raw`⚠️\u{fe0f}\u{200d}`);
});
