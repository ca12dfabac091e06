import { expect, test } from 'vitest';

import { escapeInvisible, hasInvisible, stringifyVisible } from './escape-invisible.ts';

test.each([
  ['\u202Edesrever', String.raw`\u{202e}desrever`],
  ['a\u200Bb', String.raw`a\u{200b}b`],
  ['\u001B[2J', String.raw`\u{1b}[2J`],
  ['\u{E0041}', String.raw`\u{e0041}`],
  ['a\uFE0F', String.raw`a\u{fe0f}`],
  ['x\uFE0F\uFE0F', String.raw`x\u{fe0f}\u{fe0f}`],
  ['\uFFFE', String.raw`\u{fffe}`],
  ['\uD800', String.raw`\u{d800}`],
  ['a\rb', String.raw`a\u{d}b`],
])('visible text: shows %j as %s', (text, shown) => {
  expect(escapeInvisible(text)).toBe(shown);
});

test.each(['a\n\tb', '⚠️ careful', '👩🏽‍💻', 'Grüße, 你好'])('visible text: leaves %j unchanged', (text) => {
  expect(escapeInvisible(text)).toBe(text);
});

test('visible text: normalizes Windows line endings', () => {
  expect(escapeInvisible('a\r\nb')).toBe('a\nb');
});

test('visible text: shows invisible characters after an emoji', () => {
  expect(escapeInvisible('⚠️\uFE0F\u200D')).toBe(String.raw`⚠️\u{fe0f}\u{200d}`);
});

test('visible text: shows stacked marks as code points, which would otherwise be drawn over other text', () => {
  const stack = `Z${'\u0301\u0489\u20DD'.repeat(20)}algo`;
  const shown = escapeInvisible(stack);
  expect(shown).toMatch(/^Z\p{M}{6}(?:\\u\{(?:301|489|20dd)\})+algo$/u);
  expect(shown.match(/\\u/g)).toHaveLength(54);
});

test.each(['Ế', 'E\u0302\u0301', 'שָׁ֖', 'བསྒྲུབས', 'น้ำ', 'हिन्दी'])(
  'visible text: leaves the marks of %j unchanged',
  (text) => {
    expect(escapeInvisible(text)).toBe(text);
  },
);

test('visible JSON: writes invisible characters as escapes that keep the value', () => {
  const value = { 'a\u202E': 'b\u200B\uD800\u0000\u{E0041}⚠️', list: ['\u0301'.repeat(8)] };
  const json = stringifyVisible(value);
  expect(JSON.parse(json)).toEqual(value);
  expect(escapeInvisible(json)).toBe(json);
  expect(json).toContain(String.raw`"a\u202e"`);
});

test.each([
  [{ env: { A: 'b', PATH: String.raw`C:\users` } }, false],
  [{ env: { 'A\u202E': 'b' } }, true],
  [{ args: ['a\nb'] }, true],
  [{ args: [1, null, '\u200B'] }, true],
])('visible text: an input shows %j in full: not %s', (value, expected) => {
  expect(hasInvisible(value)).toBe(expected);
});
