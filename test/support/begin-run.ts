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

/** Points everything that this process and its children take for a home to a new folder; gives what removes it. */
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
  process.env['NODE_COMPILE_CACHE'] = compiledCode();
  process.env[folderVariable] = folder;
  process.env[runVariable] = randomUUID();
  return () => remove(folder);
}

/** All runs share the compiled code of the built program, which halves the cost of starting it in a new home. */
function compiledCode(): string {
  const folder = fileURLToPath(new URL('../../.stamp/compiled', import.meta.url));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Removes what earlier runs left: nobody does when a test file cannot be loaded or a hook of it fails. */
function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      remove(join(tmpdir(), name));
    } catch {
      // Best effort: what such a run started may still be at work there.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Without the right to signal it, somebody else's process is alive all the same.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}
