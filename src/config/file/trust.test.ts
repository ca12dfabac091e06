import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { isTrusted, isTrustedText, trust, trustWritten } from './trust.ts';

let folder: string;
let file: string;
let stateDir: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-trust-'));
  file = join(folder, 'trunkline.jsonc');
  stateDir = join(folder, 'state');
  await writeFile(file, '{}');
});
afterEach(() => rm(folder, { recursive: true }));

test('a file is trusted after it was, and until it changes', async () => {
  expect(await isTrusted(file, stateDir)).toBe(false);
  await trust(file, stateDir);
  expect(await isTrusted(file, stateDir)).toBe(true);
  await writeFile(file, '{ }');
  expect(await isTrusted(file, stateDir)).toBe(false);
  await writeFile(file, '{}');
  expect(await isTrusted(file, stateDir)).toBe(true);
});

test('the same text elsewhere is not trusted, the same file by another path is', async () => {
  await trust(file, stateDir);
  const copy = join(folder, 'copy.jsonc');
  await writeFile(copy, '{}');
  expect(await isTrusted(copy, stateDir)).toBe(false);
  const other = join(folder, 'link.jsonc');
  await symlink(file, other);
  expect(await isTrusted(other, stateDir)).toBe(true);
});

test('trust in one file leaves that in others as it is, in a file that only the person can read', async () => {
  const second = join(folder, 'second.jsonc');
  await writeFile(second, '[]');
  await trust(file, stateDir);
  await trust(second, stateDir);
  expect(await isTrusted(file, stateDir)).toBe(true);
  expect(await isTrusted(second, stateDir)).toBe(true);
  expect((await stat(join(stateDir, 'trusted.json'))).mode & 0o777).toBe(0o600);
});

test('what was written is trusted, whatever the file has by now', async () => {
  await trustWritten(file, '\uFEFF{ }', stateDir);
  expect(await isTrusted(file, stateDir)).toBe(false);
  await writeFile(file, '\uFEFF{ }');
  expect(await isTrusted(file, stateDir)).toBe(true);
  expect(await isTrustedText(file, '{ }', stateDir)).toBe(true);
});

test('a file that is not there cannot be trusted', async () => {
  await expect(trust(join(folder, 'no.jsonc'), stateDir)).rejects.toMatchObject({ code: 'CONFIG_NOT_FOUND' });
});

test('a damaged record is reported and not written over', async () => {
  await trust(file, stateDir);
  const record = join(stateDir, 'trusted.json');
  for (const text of ['{', '[]', '']) {
    await writeFile(record, text);
    await expect(isTrusted(file, stateDir)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    await expect(trust(file, stateDir)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    expect(await readFile(record, 'utf8')).toBe(text);
  }
});

test('a text is trusted as the file was that it is the text of, with a byte order mark or without', async () => {
  await writeFile(file, '\uFEFF{}');
  expect(await isTrustedText(file, '{}', stateDir)).toBe(false);
  await trust(file, stateDir);
  expect(await isTrustedText(file, '{}', stateDir)).toBe(true);
  // Whatever the file became since.
  await writeFile(file, '{ "mcpServers": {} }');
  expect(await isTrustedText(file, '{}', stateDir)).toBe(true);
  expect(await isTrustedText(file, '{ "mcpServers": {} }', stateDir)).toBe(false);
});
