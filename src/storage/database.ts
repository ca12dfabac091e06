import { chmodSync, closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { Kysely } from 'kysely';

import { makeFolderSync } from '../lib/make-folder.ts';
import type { JsonObject } from '../model/json.ts';
import type { Changes } from './changes.ts';
import type { Lane } from './postgres/postgres-driver.ts';
import type { PostgresLeases } from './postgres/postgres-leases.ts';
import { classifyStoreError, troubleOf } from './store-error.ts';
import type { StorePlace } from './store-place.ts';
import type { Tables } from './tables.ts';

/** What must survive a restart. Every failure is a GatewayError. */
export interface Database extends AsyncDisposable {
  readonly engine: 'sqlite' | 'postgres';
  readonly query: Kysely<Tables>;
  readonly changes: Changes;
  /** Where the database knows who is alive; otherwise a lease is a row. */
  readonly leases?: PostgresLeases;
  /** Where the damaged predecessor lies, if opening found one. */
  readonly movedAside: string | undefined;
}

export interface StoreLog {
  warn(message: string, fields?: JsonObject): void;
}

export interface OpenOptions extends StorePlace {
  readonly signal?: AbortSignal;
  readonly log?: StoreLog;
  /** How long a statement waits for another process; the wait does not block this one. */
  readonly lockTimeoutMs?: number;
  readonly now?: () => Date;
  /** How often an embedded database is asked for changes of other processes. */
  readonly lookEveryMs?: number;
  /** Which others wait for our transactions, where many processes share a server. */
  readonly lane?: Lane;
}

const LOCK_TIMEOUT_MS = 3000;

/** The engine is loaded here and not before: a warm start does without. */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const { server } = options;
  if (server !== undefined) {
    const { openPostgres } = await import('./postgres/open-postgres.ts');
    const { lockTimeoutMs = server.statementTimeoutMs, lane = 'state' } = options;
    return openPostgres({ server, lockTimeoutMs, lane });
  }
  return openFile(options);
}

async function openFile(options: OpenOptions): Promise<Database> {
  const file = databaseFile(options.stateDir);
  const { lookEveryMs, lockTimeoutMs = LOCK_TIMEOUT_MS, signal = new AbortController().signal } = options;
  try {
    const { openSqlite } = await import('./sqlite.ts');
    signal.throwIfAborted();
    const inode = prepareFile(file, options.stateDir);
    try {
      return { ...(await openSqlite({ file, lockTimeoutMs, signal, lookEveryMs })), movedAside: undefined };
    } catch (error) {
      if (troubleOf(error) !== 'damaged') throw error;
      const movedAside = moveAside(file, inode, options.now?.() ?? new Date());
      // Otherwise another process has found the same damage, and told.
      if (movedAside !== undefined) {
        options.log?.warn('The database was damaged and has been moved aside.', { file, movedAside });
      }
      prepareFile(file, options.stateDir);
      return { ...(await openSqlite({ file, lockTimeoutMs, signal, lookEveryMs })), movedAside };
    }
  } catch (error) {
    throw classifyStoreError(error, file);
  }
}

/** Whether an earlier run may have stored anything; opening would make a new one. What cannot be looked at is not taken for nothing. */
export function hasDatabase({ stateDir, server }: StorePlace): boolean {
  if (server !== undefined) return true;
  try {
    // It is made empty before anything is written, which may fail.
    return statSync(databaseFile(stateDir)).size > 0;
  } catch (error) {
    // Where the folder itself is something else, there never was one in it.
    return !(
      error instanceof Error &&
      'code' in error &&
      (error.code === 'ENOENT' || error.code === 'ENOTDIR')
    );
  }
}

function databaseFile(stateDir: string): string {
  return join(stateDir, 'trunkline.db');
}

/** Makes the file with its mode before SQLite does, whose log files take over the mode. */
function prepareFile(file: string, stateDir: string): number {
  makeFolderSync(stateDir, 0o700);
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // Only a new file is ever opened here: closing an existing one would release the locks that SQLite holds on it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const { ino, mode } = statSync(file);
  if ((mode & 0o077) !== 0) chmodSync(file, 0o600);
  return ino;
}

/**
 * The log goes first: a new database must not find the log of the damaged one. Between the check and the renames
 * there is no await, so that two processes that find the same damage do not move each other's new database.
 */
function moveAside(file: string, inode: number, now: Date): string | undefined {
  if (!existsSync(file) || statSync(file).ino !== inode) return undefined;
  const stamp = now.toISOString().replace(/[:.]/g, '-');
  let target = `${file}.damaged-${stamp}`;
  for (let copy = 2; existsSync(target); copy++) target = `${file}.damaged-${stamp}-${copy}`;
  for (const suffix of ['-wal', '-shm', '']) {
    try {
      renameSync(file + suffix, target + suffix);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  return target;
}
