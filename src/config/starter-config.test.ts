import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { loadConfig } from './load-config.ts';
import { createStarterConfig } from './starter-config.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-starter-config-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('starter config: is private, loads without warnings and never overwrites a file', async () => {
  const file = join(folder, 'a', 'b', 'config.jsonc');
  expect(await createStarterConfig(file)).toBe(true);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, 'a', 'b'))).mode & 0o777).toBe(0o700);
  const snapshot = await loadConfig({ file, version: '1' });
  expect(snapshot.warnings).toEqual([]);
  expect(snapshot.value.upstreams).toEqual([]);
  await writeFile(file, 'mine');
  expect(await createStarterConfig(file)).toBe(false);
  expect(await readFile(file, 'utf8')).toBe('mine');
  expect(await readdir(join(folder, 'a', 'b'))).toEqual(['config.jsonc']);
});

test('starter config: contains examples that work when uncommented', async () => {
  const file = join(folder, 'config.jsonc');
  await createStarterConfig(file);
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll(/^ {4}\/\/ ( *["}].*)$/gm, '    $1'));
  const snapshot = await loadConfig({ file, version: '1' });
  expect(snapshot.warnings).toEqual([]);
  expect(snapshot.value.upstreams.map(({ name }) => name)).toEqual(['files', 'example']);
});

test('starter config: is created once by concurrent processes', async () => {
  const file = join(folder, 'config.jsonc');
  const created = await Promise.all(Array.from({ length: 8 }, () => createStarterConfig(file)));
  expect(created.filter(Boolean)).toHaveLength(1);
  expect(await readdir(folder)).toEqual(['config.jsonc']);
});
