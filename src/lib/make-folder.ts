import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it that are missing; fails as `mkdir` does. Node's own `recursive` never ends in a file system that
 * answers "no such file" to whoever makes a folder where there can be none, as /proc does: here each level is tried twice at most.
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  const missing = await attempt(path, mode);
  if (missing === undefined) return;
  const parent = dirname(path);
  if (parent === path) throw missing;
  await makeFolder(parent, mode);
  const still = await attempt(path, mode);
  if (still !== undefined) throw still;
}

/** The same where nothing can be waited for. */
export function makeFolderSync(path: string, mode = 0o777): void {
  const missing = attemptSync(path, mode);
  if (missing === undefined) return;
  const parent = dirname(path);
  if (parent === path) throw missing;
  makeFolderSync(parent, mode);
  const still = attemptSync(path, mode);
  if (still !== undefined) throw still;
}

/** The error where something above it is missing; undefined when the folder is there. */
async function attempt(path: string, mode: number): Promise<Error | undefined> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (isMissing(error)) return error;
    // Which error says that it exists depends on the file system.
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() !== true) throw error;
  }
  return undefined;
}

function attemptSync(path: string, mode: number): Error | undefined {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (isMissing(error)) return error;
    if (statOf(path)?.isDirectory() !== true) throw error;
  }
  return undefined;
}

function statOf(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // The first error tells more.
  }
}

function isMissing(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
