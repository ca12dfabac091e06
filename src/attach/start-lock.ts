import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolderSync } from '../lib/make-folder.ts';

/** Longer than anybody needs to remove a file. */
const TAKEOVER_MS = 5000;

interface LockOptions {
  readonly pid: number;
  readonly isAlive: (pid: number) => boolean;
  readonly now: () => number;
}

/**
 * Only one process at a time starts a gateway. Undefined while another one that lives holds the lock; that of a dead one is
 * taken over. Two may only remove a dead one's lock one after the other, or the second would remove that of the first.
 */
export function takeLock(file: string, options: LockOptions): Disposable | undefined {
  makeFolderSync(dirname(file), 0o700);
  if (!create(file, options.pid)) {
    if (isHeld(file, options)) return undefined;
    const takeover = `${file}.takeover`;
    if (!create(takeover, options.pid)) {
      if (ageOf(takeover, options.now()) > TAKEOVER_MS) rmSync(takeover, { force: true });
      return undefined;
    }
    try {
      if (isHeld(file, options)) return undefined;
      rmSync(file, { force: true });
      if (!create(file, options.pid)) return undefined;
    } finally {
      rmSync(takeover, { force: true });
    }
  }
  return {
    [Symbol.dispose]: () => {
      if (holderOf(file) === options.pid) rmSync(file, { force: true });
    },
  };
}

function create(file: string, pid: number): boolean {
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

/** Between making and writing it has no content; then it is as good as held for a moment. */
function isHeld(file: string, { isAlive, now }: LockOptions): boolean {
  const holder = holderOf(file);
  if (holder === undefined) return ageOf(file, now()) < TAKEOVER_MS;
  return isAlive(holder);
}

function holderOf(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined; // Given back at this very moment.
  }
}

/** Infinity when it is gone. */
function ageOf(file: string, now: number): number {
  try {
    return now - statSync(file).mtimeMs;
  } catch {
    return Infinity;
  }
}
