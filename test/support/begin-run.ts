import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { folderVariable, runVariable } from './test-run.ts';

const places = {
  HOME: 'home',
  USERPROFILE: 'home',
  APPDATA: 'home/app-data',
  LOCALAPPDATA: 'home/local-app-data',
  XDG_CONFIG_HOME: 'home/.config',
  XDG_STATE_HOME: 'home/.local/state',
  XDG_CACHE_HOME: 'home/.cache',
  XDG_DATA_HOME: 'home/.local/share',
  XDG_RUNTIME_DIR: 'home/runtime',
};

const prefix = 'trunkline-test-';

/** Points HOME and similar variables of this process and its children to a new folder; returns a function that removes it. */
export function beginRun(): () => void {
  sweep();
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('TRUNKLINE_')) delete process.env[name];
  }
  for (const [name, place] of Object.entries(places)) {
    process.env[name] = join(folder, place);
    mkdirSync(join(folder, place), { recursive: true, mode: 0o700 });
  }
  // Most tests read results of commands from a pipe as JSON.
  process.env['TRUNKLINE_OUTPUT'] = 'json';
  // Without the user's session bus, no test reaches the keychain of the user who runs it.
  delete process.env['DBUS_SESSION_BUS_ADDRESS'];
  process.env['NODE_COMPILE_CACHE'] = compiledCode();
  process.env[folderVariable] = folder;
  process.env[runVariable] = randomUUID();
  return () => remove(folder);
}

/** All runs share the compile cache of the built program, which halves its start time in a new home. */
function compiledCode(): string {
  const folder = fileURLToPath(new URL('../../.stamp/compiled', import.meta.url));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Removes folders of earlier runs, which remain if a test file cannot be loaded or one of its hooks fails. */
function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      remove(join(tmpdir(), name));
    } catch {
      // Best effort: a process of that run may still be writing there.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM means that the process exists but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}
