import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { readForEdit, saveConfig } from './edit.ts';
import { keepTrust } from './keep-trust.ts';
import { isTrusted, isTrustedText, trust } from './trust.ts';

const BEFORE = '{ "mcpServers": {} }';
const AFTER = '{ "mcpServers": { "a": { "command": "x" } } }';
const FOREIGN = '{ "mcpServers": { "a": { "command": "not-ours" } } }';

let folder: string;
let file: string;
let stateDir: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-keep-'));
  file = join(folder, 'trunkline.jsonc');
  stateDir = join(folder, 'state');
  await writeFile(file, BEFORE);
});
afterEach(() => rm(folder, { recursive: true }));

/** Saves, and then lets somebody else do something before anything follows. */
async function saved(meanwhile = (): Promise<void> => Promise.resolve()): Promise<void> {
  const document = await readForEdit(file);
  await keepTrust(document, stateDir, async () => {
    const result = await saveConfig(document, AFTER, '1');
    await meanwhile();
    return result;
  });
}

test.each(['', '\uFEFF'])('what was trusted is trusted after our own change (mark: %j)', async (mark) => {
  await writeFile(file, mark + BEFORE);
  await trust(file, stateDir);
  await saved();
  expect(await isTrusted(file, stateDir)).toBe(true);
});

test('what somebody else puts there right after it is not', async () => {
  await trust(file, stateDir);
  await saved(() => writeFile(file, FOREIGN));
  expect(await isTrusted(file, stateDir)).toBe(false);
  expect(await isTrustedText(file, AFTER, stateDir)).toBe(true);
});

test('what was not trusted as it was read is not, though the file was trusted in another form', async () => {
  await trust(file, stateDir);
  await writeFile(file, FOREIGN);
  await saved();
  expect(await isTrusted(file, stateDir)).toBe(false);
});
