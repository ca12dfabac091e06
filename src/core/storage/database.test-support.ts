import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect } from 'vitest';

import { GatewayError } from '../errors.ts';
import { openDatabase } from './database.ts';
import type { Database } from './database.ts';
import { loadSqliteBinding } from './sqlite-binding.ts';
import type { SqliteFile } from './sqlite-binding.ts';

/** Creates a folder for each test. After the test, closes the databases that it opened and removes the folder. */
export function useTemporaryDatabases() {
  const opened: Database[] = [];
  let root = '';
  const place = {
    stateDir: '',
    get file(): string {
      return join(place.stateDir, 'trunkline.db');
    },
    async open(options: Partial<Parameters<typeof openDatabase>[0]> = {}): Promise<Database> {
      const database = await openDatabase({ stateDir: place.stateDir, ...options });
      opened.push(database);
      return database;
    },
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'trunkline-storage-'));
    place.stateDir = root;
  });
  afterEach(async () => {
    for (const database of opened.splice(0)) await database[Symbol.asyncDispose]();
    rmSync(root, { recursive: true, force: true });
  });
  return place;
}

/**
 * Opens a file as another program would. Uses the binding of the database, because two bindings in one process ignore each other's locks.
 */
export async function openRawSqlite(file: string): Promise<SqliteFile> {
  return (await loadSqliteBinding()).open(file, { busyTimeoutMs: 0 });
}

export const row = (upstream: string, body = '{}') => ({
  upstream,
  fingerprint: 'f',
  listed_at: 1_700_000_000_000,
  body,
});

export async function databaseErrorOf(
  work: Promise<unknown>,
): Promise<{ code: string; reason: unknown; message: string }> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(GatewayError);
  const { code, details, message } = error as GatewayError;
  return { code, reason: details['reason'], message };
}
