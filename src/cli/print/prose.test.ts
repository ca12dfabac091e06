import { expect, test } from 'vitest';

import { wrapProse } from './prose.ts';

test('prose: wraps between words and keeps the indentation', () => {
  expect(wrapProse('a sentence of some words', 12)).toBe('a sentence\nof some\nwords');
  expect(wrapProse('  indented and long enough', 14)).toBe('  indented and\n  long enough');
  expect(wrapProse('fits\nas it is', 10)).toBe('fits\nas it is');
});

test('prose: is not wrapped without a terminal', () => {
  const text = 'a sentence of some words';
  expect(wrapProse(text, Infinity)).toBe(text);
});

test.each([
  ['Run `trunkline login it --device` now.', 'Run\n`trunkline login it --device`\nnow.'],
  ['Sign in with: trunkline login it', 'Sign in\nwith:\ntrunkline login it'],
  ['Open https://x.example/a/very/long/address', 'Open\nhttps://x.example/a/very/long/address'],
])('prose: keeps commands and URLs in one piece: %s', (text, is) => {
  expect(wrapProse(text, 10)).toBe(is);
});

test('prose: leaves JSON unchanged', () => {
  const json = '{\n  "mcpServers": { "a": "b c d e f g" }\n}';
  expect(wrapProse(json, 12)).toBe(json);
});

test('prose: leaves a command on its own line unchanged', () => {
  const command = "  TRUNKLINE_HOME='/a b' node dist/main.js dashboard --config demo/trunkline.jsonc";
  expect(wrapProse(`Run this from another terminal:\n${command}`, 20)).toBe(
    `Run this from\nanother terminal:\n${command}`,
  );
  expect(wrapProse('  trunkline dashboard --config a.jsonc', 20)).toBe(
    '  trunkline dashboard --config a.jsonc',
  );
  expect(wrapProse('  trunklines are no command of ours', 20)).toBe('  trunklines are no\n  command of ours');
});

test('prose: measures columns instead of characters', () => {
  expect(wrapProse('日本 日本 日本', 9)).toBe('日本 日本\n日本');
});
