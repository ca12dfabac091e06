import { chmodSync, closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { Kysely } from 'kysely';

import { makeFolderSync } from '../lib/make-folder.ts';
import type { JsonObject } from '../json.ts';
import type { ChangeNotifier } from './change-notifier.ts';
import type { TransactionLane } from './postgres/postgres-driver.ts';
import type { PostgresLeases } from './postgres/postgres-leases.ts';
import { classifyStoreError, storeProblemOf } from './store-error.ts';
import type { StoreLocation } from './store-location.ts';
import type { Tables } from './tables.ts';

/** The database of the gateway. Every failure is a GatewayError. */
export interface Database extends AsyncDisposable {
  readonly engine: 'sqlite' | 'postgres';
  readonly query: Kysely<Tables>;
  readonly changes: ChangeNotifier;
  /** Leases that are bound to a connection. Absent for SQLite, where a lease is a row; see `withLease`. */
  readonly leases?: PostgresLeases;
  /** The new path of a damaged database that was moved aside when this one was opened; undefined if there was none. */
  readonly movedAside: string | undefined;
}

export interface StoreLog {
  warn(message: string, fields?: JsonObject): void;
}

export interface OpenOptions extends StoreLocation {
  readonly signal?: AbortSignal;
  readonly log?: StoreLog;
  /** Maximum time that a statement waits for a lock of another process, without blocking the event loop. */
  readonly lockTimeoutMs?: number;
  readonly now?: () => Date;
  /** Polling interval for changes by other processes on SQLite. */
  readonly pollIntervalMs?: number;
  /** Transactions of the same lane exclude each other across processes; PostgreSQL only. */
  readonly lane?: TransactionLane;
}

const LOCK_TIMEOUT_MS = 3000;

/** Opens the database. The engine is loaded here, so that a warm start without a query does not load it. */
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
  const { pollIntervalMs, lockTimeoutMs = LOCK_TIMEOUT_MS, signal = new AbortController().signal } = options;
  try {
    const { openSqlite } = await import('./sqlite.ts');
    signal.throwIfAborted();
    const inode = prepareFile(file, options.stateDir);
    try {
      return {
        ...(await openSqlite({ file, lockTimeoutMs, signal, pollIntervalMs })),
        movedAside: undefined,
      };
    } catch (error) {
      if (storeProblemOf(error) !== 'damaged') throw error;
      const movedAside = moveAside(file, inode, options.now?.() ?? new Date());
      // If undefined, another process has already moved the database aside and reported it.
      if (movedAside !== undefined) {
        options.log?.warn('The database was damaged and has been moved aside.', { file, movedAside });
      }
      prepareFile(file, options.stateDir);
      return { ...(await openSqlite({ file, lockTimeoutMs, signal, pollIntervalMs })), movedAside };
    }
  } catch (error) {
    throw classifyStoreError(error, file);
  }
}

/** Whether an earlier run may have stored data. Does not create the database. Returns true if the file cannot be checked. */
export function hasDatabase({ stateDir, server }: StoreLocation): boolean {
  if (server !== undefined) return true;
  try {
    // The file is created empty, and the first write may have failed.
    return statSync(databaseFile(stateDir)).size > 0;
  } catch (error) {
    // If the state folder is not a folder, it contains no database.
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

/**
 * Creates the file before SQLite does, so that only its owner can read it. The WAL files inherit its mode. Returns the inode of the file.
 */
function prepareFile(file: string, stateDir: string): number {
  makeFolderSync(stateDir, 0o700);
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // An existing file is not opened, because closing it would release the locks that SQLite in this process holds on it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const { ino, mode } = statSync(file);
  if ((mode & 0o077) !== 0) chmodSync(file, 0o600);
  return ino;
}

/**
 * Moves a damaged database aside, its WAL files first, because a new database must not find the old ones. Returns undefined if the file is
 * no longer the damaged one. Everything is synchronous, so another process can hardly replace the file between the check and the renames.
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
