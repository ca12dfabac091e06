import { execFileSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { shellWord } from './shell-word.ts';

test.each([
  'files',
  'a-b_c',
  '/home/me/config.jsonc',
  'npm:@scope/name@1.2',
  String.raw`C:\Users\me\c.jsonc`,
])('%s stays as it is', (text) => {
  expect(shellWord(text)).toBe(text);
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
])('%j is what a shell makes of it', (text) => {
  expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
});
