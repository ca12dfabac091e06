import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder with its missing parents; fails like `mkdir`. The `recursive` option of Node loops forever on a file system that
 * answers ENOENT where no folder can exist, such as /proc; here each level is tried at most twice.
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

/** The synchronous form of `makeFolder`. */
export function makeFolderSync(path: string, mode = 0o777): void {
  const missing = attemptSync(path, mode);
  if (missing === undefined) return;
  const parent = dirname(path);
  if (parent === path) throw missing;
  makeFolderSync(parent, mode);
  const still = attemptSync(path, mode);
  if (still !== undefined) throw still;
}

/** Creates one folder. Returns the error if its parent is missing, and undefined if the folder exists now. Rejects for any other error. */
async function attempt(path: string, mode: number): Promise<Error | undefined> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (isMissing(error)) return error;
    // The error code for an existing folder depends on the file system.
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
    return undefined; // The error of `mkdirSync` is more specific.
  }
}

function isMissing(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
