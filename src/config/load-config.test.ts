import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';

import { rolldown } from 'rolldown';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { GatewayError } from '../core/errors.ts';
import { computeConfigRevision, loadConfig, readConfigAtStart, readConfigText } from './load-config.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-load-'));
  file = join(folder, 'config.jsonc');
});
afterEach(() => rm(folder, { recursive: true }));

async function failureOf(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof GatewayError) return error;
  throw new Error('it did not fail as expected', { cause: error });
}

test('load: returns the path, the revision and the servers of a file', async () => {
  const text = '{ "mcpServers": { "time": { "command": "uvx" } } }';
  await writeFile(file, text);
  const snapshot = await loadConfig({ file, version: '1.2.3' });
  expect(snapshot.file).toBe(file);
  expect(snapshot.revision).toBe(computeConfigRevision(text, '1.2.3'));
  expect(snapshot.value.upstreams.map(({ name }) => name)).toEqual(['time']);
  expect(snapshot.warnings).toEqual([]);
});

test('revision: depends on the text and the version only', () => {
  const revision = computeConfigRevision('{}', '1.0.0');
  expect(computeConfigRevision('{}', '1.0.0')).toBe(revision);
  expect(computeConfigRevision('{ }', '1.0.0')).not.toBe(revision);
  expect(computeConfigRevision('{}', '1.0.1')).not.toBe(revision);
  expect(computeConfigRevision('0{}', '1.0.')).not.toBe(revision);
});

test('load: ignores a byte order mark', async () => {
  await writeFile(file, '\uFEFF{"nmaes": {}}');
  expect(await readConfigText(file)).toBe('{"nmaes": {}}');
  expect((await failureOf(loadConfig({ file, version: '1' }))).details).toMatchObject({ line: 1, column: 2 });
});

test('load: reports a missing file with its path', async () => {
  for (const path of [file, join(folder, 'no', 'such.jsonc')]) {
    const error = await failureOf(loadConfig({ file: path, version: '1' }));
    expect(error.code).toBe('CONFIG_NOT_FOUND');
    expect(error.message).toContain(path);
    expect(error.details).toEqual({ file: path });
  }
});

test('load: rejects a folder and a file that is not UTF-8', async () => {
  await mkdir(file);
  const folderError = await failureOf(loadConfig({ file, version: '1' }));
  expect(folderError.code).toBe('CONFIG_INVALID');
  expect(folderError.message).toContain('it is a folder');
  const other = join(folder, 'utf16.jsonc');
  await writeFile(other, Buffer.from('\uFEFF{}', 'utf16le'));
  const encodingError = await failureOf(loadConfig({ file: other, version: '1' }));
  expect(encodingError.code).toBe('CONFIG_INVALID');
  expect(encodingError.message).toContain('UTF-8');
});

test('startup read: behaves like a normal read and waits for a named pipe', async () => {
  await writeFile(file, '\uFEFF{"a": "ö"}');
  expect(await readConfigAtStart(file)).toBe('{"a": "ö"}');
  const problem = async (path: string): Promise<readonly unknown[]> => {
    const errors = await Promise.all([failureOf(readConfigAtStart(path)), failureOf(readConfigText(path))]);
    expect(errors[0]?.message).toBe(errors[1]?.message);
    return errors.map(({ code }) => code);
  };
  expect(await problem(join(folder, 'none'))).toEqual(['CONFIG_NOT_FOUND', 'CONFIG_NOT_FOUND']);
  expect(await problem(folder)).toEqual(['CONFIG_INVALID', 'CONFIG_INVALID']);
  await writeFile(file, Buffer.of(0xff, 0xfe, 0));
  expect(await problem(file)).toEqual(['CONFIG_INVALID', 'CONFIG_INVALID']);
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [text] = await Promise.all([readConfigAtStart(pipe), writeFile(pipe, '{}')]);
  expect(text).toBe('{}');
});

test('startup read: loads neither the schema nor the parser for a cached snapshot', async () => {
  const entries = [
    'load-config.ts',
    'resolve-references.ts',
    'resolve-transport.ts',
    'find-config.ts',
    'file/config-trust.ts',
    'duration.ts',
  ];
  const input = entries.map((name) => join(import.meta.dirname, name));
  const imports = new Map<string, readonly string[]>();
  const bundling = await rolldown({
    input,
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    plugins: [{ name: 'imports', moduleParsed: ({ id, importedIds }) => void imports.set(id, importedIds) }],
  });
  await bundling.generate();
  const reached = new Set(input);
  for (const name of reached) for (const imported of imports.get(name) ?? []) reached.add(imported);
  expect([...reached].filter((name) => name.endsWith('.ts'))).not.toContain(
    join(import.meta.dirname, 'validate-config.ts'),
  );
  expect([...reached].filter((name) => !name.endsWith('.ts') && !name.startsWith('node:'))).toEqual([]);
});
