import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { isTrusted, isTrustedText, preserveTrust, trustConfig, trustText } from './config-trust.ts';
import { readConfigDocument, saveConfig } from './edit-config.ts';

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

test('trust: holds for a file until its content changes', async () => {
  expect(await isTrusted(file, stateDir)).toBe(false);
  await trustConfig(file, stateDir);
  expect(await isTrusted(file, stateDir)).toBe(true);
  await writeFile(file, '{ }');
  expect(await isTrusted(file, stateDir)).toBe(false);
  await writeFile(file, '{}');
  expect(await isTrusted(file, stateDir)).toBe(true);
});

test('trust: does not extend to a copy but follows a symbolic link', async () => {
  await trustConfig(file, stateDir);
  const copy = join(folder, 'copy.jsonc');
  await writeFile(copy, '{}');
  expect(await isTrusted(copy, stateDir)).toBe(false);
  const other = join(folder, 'link.jsonc');
  await symlink(file, other);
  expect(await isTrusted(other, stateDir)).toBe(true);
});

test('trust: is recorded per file, in a file with mode 0600', async () => {
  const second = join(folder, 'second.jsonc');
  await writeFile(second, '[]');
  await trustConfig(file, stateDir);
  await trustConfig(second, stateDir);
  expect(await isTrusted(file, stateDir)).toBe(true);
  expect(await isTrusted(second, stateDir)).toBe(true);
  expect((await stat(join(stateDir, 'trusted.json'))).mode & 0o777).toBe(0o600);
});

test('trust: ends when a guard file changes, appears or disappears', async () => {
  const [guard, missing] = [join(folder, 'guard.mjs'), join(folder, 'missing.mjs')];
  const text = '{ "guards": ["./guard.mjs", "./missing.mjs"] }';
  await writeFile(guard, 'export default () => {};');
  await writeFile(file, `\uFEFF${text}`);
  await trustConfig(file, stateDir);
  const isTrustedNow = async (): Promise<readonly boolean[]> => [
    await isTrusted(file, stateDir),
    await isTrustedText(file, text, stateDir),
  ];
  expect(await isTrustedNow()).toEqual([true, true]);
  await writeFile(guard, 'export default () => steal();');
  expect(await isTrustedNow()).toEqual([false, false]);
  await writeFile(guard, 'export default () => {};');
  expect(await isTrustedNow()).toEqual([true, true]);
  await writeFile(missing, '');
  expect(await isTrustedNow()).toEqual([false, false]);
});

test('trust: our own change of the file does not extend it to a guard that changed meanwhile', async () => {
  const guard = join(folder, 'guard.mjs');
  await writeFile(guard, 'export default () => {};');
  await writeFile(file, '{ "guards": ["./guard.mjs"] }');
  await trustConfig(file, stateDir);
  const document = await readConfigDocument(file);
  await preserveTrust(document, stateDir, async () => {
    const saved = await saveConfig(document, '{ "guards": ["./guard.mjs"], "metrics": true }', '1');
    await writeFile(guard, 'export default () => steal();');
    return saved;
  });
  expect(await isTrusted(file, stateDir)).toBe(false);
});

test('trust: applies to the text that was written, not to what the file contains now', async () => {
  await trustText(file, '\uFEFF{ }', stateDir);
  expect(await isTrusted(file, stateDir)).toBe(false);
  await writeFile(file, '\uFEFF{ }');
  expect(await isTrusted(file, stateDir)).toBe(true);
  expect(await isTrustedText(file, '{ }', stateDir)).toBe(true);
});

test('trust: rejects a missing file with CONFIG_NOT_FOUND', async () => {
  await expect(trustConfig(join(folder, 'no.jsonc'), stateDir)).rejects.toMatchObject({
    code: 'CONFIG_NOT_FOUND',
  });
});

test('trust: reports a damaged record as STORE_CORRUPT and does not overwrite it', async () => {
  await trustConfig(file, stateDir);
  const record = join(stateDir, 'trusted.json');
  for (const text of ['{', '[]', '']) {
    await writeFile(record, text);
    await expect(isTrusted(file, stateDir)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    await expect(trustConfig(file, stateDir)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    expect(await readFile(record, 'utf8')).toBe(text);
  }
});

test('trust: applies to a text with or without a byte order mark', async () => {
  await writeFile(file, '\uFEFF{}');
  expect(await isTrustedText(file, '{}', stateDir)).toBe(false);
  await trustConfig(file, stateDir);
  expect(await isTrustedText(file, '{}', stateDir)).toBe(true);
  // The current content of the file does not matter.
  await writeFile(file, '{ "mcpServers": {} }');
  expect(await isTrustedText(file, '{}', stateDir)).toBe(true);
  expect(await isTrustedText(file, '{ "mcpServers": {} }', stateDir)).toBe(false);
});

const BEFORE = '{ "mcpServers": {} }';
const AFTER = '{ "mcpServers": { "a": { "command": "x" } } }';
const FOREIGN = '{ "mcpServers": { "a": { "command": "not-ours" } } }';

/** Saves the config and runs `meanwhile` before trust is recorded. */
async function saveTrusted(meanwhile = (): Promise<void> => Promise.resolve()): Promise<void> {
  const document = await readConfigDocument(file);
  await preserveTrust(document, stateDir, async () => {
    const result = await saveConfig(document, AFTER, '1');
    await meanwhile();
    return result;
  });
}

test.each(['', '\uFEFF'])('trust: is kept after our own change (byte order mark: %j)', async (mark) => {
  await writeFile(file, mark + BEFORE);
  await trustConfig(file, stateDir);
  await saveTrusted();
  expect(await isTrusted(file, stateDir)).toBe(true);
});

test('trust: does not extend to a change by another program right after ours', async () => {
  await writeFile(file, BEFORE);
  await trustConfig(file, stateDir);
  await saveTrusted(() => writeFile(file, FOREIGN));
  expect(await isTrusted(file, stateDir)).toBe(false);
  expect(await isTrustedText(file, AFTER, stateDir)).toBe(true);
});

test('trust: is not granted by our change to a text that was untrusted', async () => {
  await writeFile(file, BEFORE);
  await trustConfig(file, stateDir);
  await writeFile(file, FOREIGN);
  await saveTrusted();
  expect(await isTrusted(file, stateDir)).toBe(false);
});
