import { expect, test } from 'vitest';

import { prose } from './prose.ts';

test('is broken between words, and goes on below its beginning', () => {
  expect(prose('a sentence of some words', 12)).toBe('a sentence\nof some\nwords');
  expect(prose('  indented and long enough', 14)).toBe('  indented and\n  long enough');
  expect(prose('fits\nas it is', 10)).toBe('fits\nas it is');
});

test('without a terminal is left as it is', () => {
  const text = 'a sentence of some words';
  expect(prose(text, Infinity)).toBe(text);
});

test.each([
  ['Run `trunkline login it --device` now.', 'Run\n`trunkline login it --device`\nnow.'],
  ['Sign in with: trunkline login it', 'Sign in\nwith:\ntrunkline login it'],
  ['Open https://x.example/a/very/long/address', 'Open\nhttps://x.example/a/very/long/address'],
])('keeps in one piece what is copied: %s', (text, is) => {
  expect(prose(text, 10)).toBe(is);
});

test('adds nothing to what is pasted', () => {
  const json = '{\n  "mcpServers": { "a": "b c d e f g" }\n}';
  expect(prose(json, 12)).toBe(json);
});

test('leaves a command that has a line to itself as it is', () => {
  const command = "  TRUNKLINE_HOME='/a b' node dist/main.js dashboard --config demo/trunkline.jsonc";
  expect(prose(`Run this from another terminal:\n${command}`, 20)).toBe(
    `Run this from\nanother terminal:\n${command}`,
  );
  expect(prose('  trunkline dashboard --config a.jsonc', 20)).toBe('  trunkline dashboard --config a.jsonc');
  expect(prose('  trunklines are no command of ours', 20)).toBe('  trunklines are no\n  command of ours');
});

test('counts columns, not characters', () => {
  expect(prose('日本 日本 日本', 9)).toBe('日本 日本\n日本');
});
