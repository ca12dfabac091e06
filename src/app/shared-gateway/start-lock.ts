import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolderSync } from '../../core/lib/make-folder.ts';

/** Age at which an empty lock file or a takeover file expires. A process needs far less time to write or remove a file. */
const EXPIRY_MS = 5000;

interface StartLockOptions {
  readonly pid: number;
  readonly isAlive: (pid: number) => boolean;
  readonly now: () => number;
}

/**
 * Acquires the lock that lets only one process at a time start a gateway. Returns undefined while another running process holds the lock.
 * Takes over the lock of a dead process. A second lock file protects the takeover: otherwise a slower process could remove the lock that a
 * faster one has just created.
 */
export function acquireStartLock(file: string, options: StartLockOptions): Disposable | undefined {
  makeFolderSync(dirname(file), 0o700);
  if (!createLockFile(file, options.pid)) {
    if (isHeld(file, options)) return undefined;
    const takeover = `${file}.takeover`;
    if (!createLockFile(takeover, options.pid)) {
      if (readAge(takeover, options.now()) > EXPIRY_MS) rmSync(takeover, { force: true });
      return undefined;
    }
    try {
      // Another process may have finished its takeover since the first check.
      if (isHeld(file, options)) return undefined;
      rmSync(file, { force: true });
      if (!createLockFile(file, options.pid)) return undefined;
    } finally {
      rmSync(takeover, { force: true });
    }
  }
  return {
    [Symbol.dispose]: () => {
      if (readHolder(file) === options.pid) rmSync(file, { force: true });
    },
  };
}

function createLockFile(file: string, pid: number): boolean {
  try {
    const descriptor = openSync(file, 'wx', 0o600);
    writeSync(descriptor, String(pid));
    closeSync(descriptor);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Whether a process holds the lock. A file without a process id was just created, so it counts as held until it expires. */
function isHeld(file: string, { isAlive, now }: StartLockOptions): boolean {
  const holder = readHolder(file);
  if (holder === undefined) return readAge(file, now()) < EXPIRY_MS;
  return isAlive(holder);
}

function readHolder(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined; // The holder has just released the lock.
  }
}

/** Returns the age of the file in milliseconds, or Infinity if it does not exist. */
function readAge(file: string, now: number): number {
  try {
    return now - statSync(file).mtimeMs;
  } catch {
    return Infinity;
  }
}
