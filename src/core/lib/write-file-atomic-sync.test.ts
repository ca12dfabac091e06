import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { temporaryFolder } from '../../../test/support/test-run.ts';
import { writeFileAtomicSync } from './write-file-atomic-sync.ts';

test('atomic write (sync): replaces a file with mode 0600 and creates missing folders', () => {
  const folder = temporaryFolder('atomic-sync');
  const path = join(folder, 'a', 'file');
  for (const text of ['one that is longer', 'two']) {
    writeFileAtomicSync(path, text, 0o600);
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
  expect([path, join(folder, 'a')].map((each) => statSync(each).mode & 0o777)).toEqual([0o600, 0o700]);
  expect(readdirSync(join(folder, 'a'))).toEqual(['file']);
});

test('atomic write (sync): leaves no temporary file behind when the rename fails', () => {
  const folder = temporaryFolder('atomic-sync');
  mkdirSync(join(folder, 'file', 'full'), { recursive: true });
  expect(() => writeFileAtomicSync(join(folder, 'file'), 'text', 0o600)).toThrow();
  expect(readdirSync(folder)).toEqual(['file']);
  writeFileSync(join(folder, 'other'), '');
  expect(() => writeFileAtomicSync(join(folder, 'other', 'file'), 'text', 0o600)).toThrow();
});
