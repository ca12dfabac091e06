// What V8 made of the program is kept in the state folder; whatever becomes of it, the program is the same.

import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { commandHome } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';

function homeWithState() {
  const cell = commandHome();
  const state = join(cell.home, 'state');
  mkdirSync(state, { mode: 0o700 });
  const code = join(state, 'code');
  const help = async (env: Readonly<Record<string, string>> = {}): Promise<void> =>
    expect(await cell.run(['--help'], { env })).toMatchObject({
      ...{ code: 0, stderr: '', stdout: expect.stringContaining('serve') as string },
    });
  const kept = (): readonly string[] => readdirSync(code, { recursive: true, encoding: 'utf8' });
  return { ...cell, state, code, help, kept };
}

// Newer versions of Node keep it by themselves, in a form of their own.
const isNewer = Number.parseInt(process.versions.node, 10) > 20;

test.skipIf(isNewer)(
  'is kept for this build and this Node, for the user alone, and written once',
  async () => {
    const { code, help, kept } = homeWithState();
    await help();
    const [build, ...files] = kept().map((name) => join(code, name));
    expect(build).toMatch(new RegExp(String.raw`/\d\S*\+\w+-${process.version}-${process.arch}$`));
    expect(files).toEqual([expect.stringMatching(/\/start-[\w-]+\.js$/)]);
    expect([code, build ?? '', ...files].map((path) => statSync(path).mode & 0o777)).toEqual([
      ...[0o700, 0o700, 0o600],
    ]);
    const before = statSync(files[0] ?? '');
    await help();
    expect(statSync(files[0] ?? '')).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  },
);

test.skipIf(isNewer)('is not believed when it is damaged, and is written anew', async () => {
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

test('no folder is made for it, none is needed, and nobody has to have it', async () => {
  const cell = commandHome();
  expect(await cell.run(['--version'])).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(cell.home)).toEqual(['config.jsonc']);
  const { help, state, code } = homeWithState();
  await help({ NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(readdirSync(state)).toEqual([]);
  writeFileSync(code, 'in the way');
  await help();
  expect(readFileSync(code, 'utf8')).toBe('in the way');
});

test.skipIf(isNewer)('several processes at once leave whole files', async () => {
  const { help, kept } = homeWithState();
  await Promise.all([help(), help(), help(), help()]);
  expect(kept()).toHaveLength(2);
  await help();
});

test.skipIf(isNewer)('what a gateway has kept while it ran is used by the next one', async () => {
  const kept = (home: string): readonly string[] => {
    const code = join(home, 'state', 'code');
    const names = existsSync(code) ? readdirSync(code, { recursive: true, encoding: 'utf8' }) : [];
    return names
      .filter((name) => /(?:start|common|gateway)-[\w-]+\.js$/.test(name))
      .map((name) => join(code, name));
  };
  const isLasting = (file: string): boolean => readFileSync(file)[32] === 2;
  let files: readonly string[] = [];
  await using first = await startGateway({ mcpServers: {}, listen: 'http' });
  const { home } = first;
  await eventually(() => (files = kept(home)).length === 3 && files.every(isLasting), {
    what: 'the code of a gateway that runs',
  });
  await first[Symbol.asyncDispose]();
  const before = files.map((file) => statSync(file).ino);
  await using second = await startGateway({ mcpServers: {}, home, listen: 'http' });
  await second[Symbol.asyncDispose]();
  // Whatever is refused is written anew, and a file that is put in its place is another one.
  expect(files.map((file) => statSync(file).ino)).toEqual(before);
});
