import { execFileSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { quoteShellWord } from './quote-shell-word.ts';

test.each([
  'files',
  'a-b_c',
  '/home/me/config.jsonc',
  'npm:@scope/name@1.2',
  String.raw`C:\Users\me\c.jsonc`,
])('shell word: leaves %s unquoted', (text) => {
  expect(quoteShellWord(text)).toBe(text);
});

test.each([
  'My Server',
  "it's",
  '$(date)',
  '`date`',
  'a"b',
  '',
  '*',
  'a;b',
  String.raw`a\b`,
  'ä',
  '!x',
  '~me',
])('shell word: quotes %j so that a shell reads the same text', (text) => {
  expect(execFileSync('sh', ['-c', `printf %s ${quoteShellWord(text)}`], { encoding: 'utf8' })).toBe(text);
});
