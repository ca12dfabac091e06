import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect } from 'vitest';

import { GatewayError } from '../model/errors.ts';
import { openDatabase } from './database.ts';
import type { Database } from './database.ts';

/** A new folder for each test, and what was opened in it, which is closed afterwards. */
export function throwAwayDatabases() {
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

export const row = (upstream: string, body = '{}') => ({
  upstream,
  fingerprint: 'f',
  listed_at: 1_700_000_000_000,
  body,
});

export async function troubleIn(
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
