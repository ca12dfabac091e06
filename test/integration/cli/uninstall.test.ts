import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { isProcessAlive } from '../../../src/core/lib/is-process-alive.ts';
import { commandHome } from '../../support/command.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const plain = fixture('plain');
const cursor = `{ "mcpServers": { "plain": ${JSON.stringify(plain)} }, "x": [1, 2] }`;

/** A user whose Cursor has a server, and whose Codex has no file yet. Both are connected. */
async function connectedUser() {
  const home = commandHome();
  const folder = temporaryFolder('person');
  const env = { HOME: folder, XDG_CONFIG_HOME: undefined, APPDATA: undefined };
  const cursorFile = join(folder, '.cursor', 'mcp.json');
  const codexFile = join(folder, '.codex', 'config.toml');
  mkdirSync(dirname(cursorFile), { recursive: true });
  writeFileSync(cursorFile, cursor);
  const run = (...args: string[]) => home.run(args, { env, cwd: temporaryFolder('work') });
  for (const client of ['cursor', 'codex'])
    expect((await run('connect', client, '--yes', '--trust')).code).toBe(0);
  return { ...home, run, cursorFile, codexFile, stateDir: join(home.home, 'state') };
}

test('uninstall: restores all clients, stops the gateway and deletes the state, but keeps the configuration', async () => {
  const { run, home, configFile, cursorFile, codexFile, stateDir } = await connectedUser();
  expect((await run('dashboard', '--print')).code).toBe(0);
  const { pid } = JSON.parse(readFileSync(join(stateDir, 'run', 'gateway.json'), 'utf8')) as { pid: number };

  const refused = await run('uninstall', '--text');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') as string });
  expect((await run('uninstall', '--dry-run', '--text')).stderr).toMatch(
    /2 clients: codex, cursor\nStops 1 running gateway\nDeletes .*state/,
  );
  expect(readFileSync(cursorFile, 'utf8')).not.toBe(cursor);

  const { code, stdout } = await run('uninstall', '--yes', '--text');
  expect(code).toBe(0);
  expect(stdout).toContain('npm rm --global trunkline');
  expect(readFileSync(cursorFile, 'utf8')).toBe(cursor);
  expect(existsSync(codexFile)).toBe(false);
  expect(existsSync(stateDir)).toBe(false);
  expect(isProcessAlive(pid)).toBe(false);
  expect(existsSync(configFile) && existsSync(home)).toBe(true);
});

test('uninstall: returns the servers of a client whose file has changed, and keeps the other changes', async () => {
  const { run, cursorFile } = await connectedUser();
  writeFileSync(cursorFile, readFileSync(cursorFile, 'utf8').replace('[1, 2]', '[3]'));
  const { code, stdout } = await run('uninstall', '--yes', '--text');
  expect(code).toBe(0);
  expect(stdout).toContain('has its servers back');
  expect(JSON.parse(readFileSync(cursorFile, 'utf8'))).toEqual({ mcpServers: { plain }, x: [3] });
});

test('uninstall: keeps the state with its backups if a client cannot be restored', async () => {
  const { run, cursorFile, codexFile, stateDir } = await connectedUser();
  writeFileSync(cursorFile, '{ "mcpServers": ');
  const { code, stderr } = await run('uninstall', '--yes', '--text');
  expect(code).toBe(1);
  expect(stderr).toContain(`cursor: ${cursorFile} was not changed`);
  expect(stderr).toContain(`${stateDir} was kept`);
  expect(existsSync(codexFile)).toBe(false);
  expect(readFileSync(cursorFile, 'utf8')).toBe('{ "mcpServers": ');
  expect(existsSync(join(stateDir, 'connected', 'cursor.json'))).toBe(true);
});

test('uninstall: deletes no state folder that holds anything Trunkline did not create', async () => {
  const { run, cursorFile, stateDir } = await connectedUser();
  const connected = readFileSync(cursorFile, 'utf8');
  writeFileSync(join(stateDir, 'thesis.tex'), 'years of work');
  const { code, stderr } = await run('uninstall', '--yes', '--text');
  expect(code).toBe(2);
  expect(stderr).toContain(`${stateDir} also contains what Trunkline did not create: thesis.tex`);
  expect(readFileSync(join(stateDir, 'thesis.tex'), 'utf8')).toBe('years of work');
  expect(readFileSync(cursorFile, 'utf8')).toBe(connected);
  expect((await run('uninstall', '--yes', '--keep-state')).code).toBe(0);
  expect(readFileSync(cursorFile, 'utf8')).toBe(cursor);
});
