// Compiled code of V8 is cached in the state folder; the program works the same without it.

import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway.ts';
import { temporaryFolder } from '../../support/test-run.ts';

/** Other tests share a folder for compiled code; these use the state folder. */
const inStateFolder = { NODE_COMPILE_CACHE: undefined };

function homeWithState() {
  const cell = commandHome();
  const state = join(cell.home, 'state');
  mkdirSync(state, { mode: 0o700 });
  const code = join(state, 'code');
  const help = async (env: Readonly<Record<string, string>> = {}): Promise<void> =>
    expect(await cell.run(['--help'], { env: { ...inStateFolder, ...env } })).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('serve') as string,
    });
  const kept = (): readonly string[] => readdirSync(code, { recursive: true, encoding: 'utf8' });
  return { ...cell, state, code, help, kept };
}

// Newer versions of Node.js have their own compile cache.
const isNewer = Number.parseInt(process.versions.node, 10) > 20;

test.skipIf(isNewer)(
  'compile cache: is private, specific to the build and the Node.js version, and written once',
  async () => {
    const { code, help, kept } = homeWithState();
    await help();
    const [build, ...files] = kept().map((name) => join(code, name));
    expect(build).toMatch(new RegExp(String.raw`/\d\S*\+\w+-${process.version}-${process.arch}$`));
    expect(files).toEqual([expect.stringMatching(/\/start-[\w-]+\.js$/)]);
    expect([code, build ?? '', ...files].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o700, 0o700, 0o600,
    ]);
    const before = statSync(files[0] ?? '');
    await help();
    expect(statSync(files[0] ?? '')).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  },
);

test.skipIf(isNewer)('compile cache: is ignored and rewritten when damaged', async () => {
  const { code, help, kept } = homeWithState();
  await help();
  const file = join(code, kept()[1] ?? '');
  const bytes = readFileSync(file);
  const changed = Buffer.from(bytes);
  changed.fill(0, 5000, 6000);
  for (const damaged of [changed, bytes.subarray(0, 100), Buffer.from('garbage'), Buffer.alloc(0)]) {
    writeFileSync(file, damaged);
    await help();
    expect(statSync(file).size).toBeGreaterThan(10_000);
  }
});

test('compile cache: creates no state folder, can be disabled, and tolerates an unusable path', async () => {
  const cell = commandHome();
  expect(await cell.run(['--version'], { env: inStateFolder })).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(cell.home)).toEqual(['config.jsonc']);
  const { help, state, code } = homeWithState();
  await help({ NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(readdirSync(state)).toEqual([]);
  writeFileSync(code, 'in the way');
  await help();
  expect(readFileSync(code, 'utf8')).toBe('in the way');
});

test.skipIf(isNewer)('compile cache: goes to NODE_COMPILE_CACHE if that is set', async () => {
  const { help, state } = homeWithState();
  const chosen = temporaryFolder('chosen');
  await help({ NODE_COMPILE_CACHE: chosen });
  expect(readdirSync(chosen)).toEqual(['trunkline']);
  expect(readdirSync(state)).toEqual([]);
});

test.skipIf(isNewer)('compile cache: stays intact when several processes write it at once', async () => {
  const { help, kept } = homeWithState();
  await Promise.all([help(), help(), help(), help()]);
  expect(kept()).toHaveLength(2);
  await help();
});

test.skipIf(isNewer)(
  'compile cache: is written by a running gateway and reused by the next one',
  async () => {
    const kept = (home: string): readonly string[] => {
      const code = join(home, 'state', 'code');
      const names = existsSync(code) ? readdirSync(code, { recursive: true, encoding: 'utf8' }) : [];
      return names
        .filter((name) => /(?:start|common|gateway)-[\w-]+\.js$/.test(name))
        .map((name) => join(code, name));
    };
    const isLasting = (file: string): boolean => readFileSync(file)[32] === 2;
    let files: readonly string[] = [];
    await using first = await startGateway({ mcpServers: {}, listen: 'http', env: inStateFolder });
    const { home } = first;
    await eventually(() => (files = kept(home)).length === 3 && files.every(isLasting), {
      what: 'the code of a gateway that runs',
    });
    await first[Symbol.asyncDispose]();
    const before = files.map((file) => statSync(file).ino);
    await using second = await startGateway({ mcpServers: {}, home, listen: 'http', env: inStateFolder });
    await second[Symbol.asyncDispose]();
    // A rejected cache file is replaced, which changes its inode.
    expect(files.map((file) => statSync(file).ino)).toEqual(before);
  },
);
