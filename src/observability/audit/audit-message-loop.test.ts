import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { waitForValue } from '../../../test/support/eventually.ts';
import { openRawSqlite } from '../../core/storage/database.test-support.ts';
import type { AuditThreadResponse, AuditThreadRequest } from './audit-messages.ts';
import { RecordBatch } from './record-batch.ts';
import type { EncodedBatch } from './record-batch.ts';
import { recordDraft } from './audit-log.test-support.ts';
import { runAuditMessageLoop } from './audit-message-loop.ts';

let stateDir: string;
let port: MessagePort;
let responses: AuditThreadResponse[];

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'trunkline-audit-'));
  const { port1, port2 } = new MessageChannel();
  responses = [];
  port = port1;
  port.on('message', (message: AuditThreadResponse) => responses.push(message));
  runAuditMessageLoop(port2, {
    settings: {
      place: { stateDir },
      keepMs: 1e12,
      maxBytes: 1e9,
      arguments: false,
      results: false,
      chain: false,
    },
    estimate: (text) => text.length,
    now: () => 0,
  });
});

afterEach(() => {
  port.close();
  rmSync(stateDir, { recursive: true, force: true });
});

function post(message: AuditThreadRequest): void {
  port.postMessage(message);
}

/** Returns the next message of the thread. */
function nextResponse(): Promise<AuditThreadResponse> {
  return waitForValue(() => responses.shift(), { what: 'A response of the audit thread', withinMs: 10_000 });
}

function batchOf(at: number): EncodedBatch {
  const batch = new RecordBatch('r', at);
  batch.add(recordDraft({ at, group: 'g', entry: 'e', tier: 'read' }));
  return batch.encode();
}

/** Drops all tables, as if a backup was restored: the open connection fails, a new one works. */
async function dropAllTables(): Promise<void> {
  const database = await openRawSqlite(join(stateDir, 'trunkline.db'));
  database.exec('pragma foreign_keys = off');
  const tables = database
    .prepare(
      "select name, type from sqlite_master where type in ('view', 'table') and name not like 'sqlite_%'",
    )
    .run([]).rows as { name: string; type: string }[];
  for (const { name, type } of tables) database.exec(`drop ${type} "${name}"`);
  database.exec('pragma user_version = 0');
  database.close();
}

test('audit thread: reopens the database and retries after a failed write', async () => {
  post({ type: 'write', records: batchOf(1) });
  expect(await nextResponse()).toEqual({ type: 'written', count: 1 });
  await dropAllTables();
  post({ type: 'write', records: batchOf(2) });
  expect(await nextResponse()).toEqual({ type: 'written', count: 1 });
  post({ type: 'query', id: 1, name: 'totals', params: {} });
  expect(await nextResponse()).toMatchObject({ type: 'result', result: { records: 1 } });
});

test('audit thread: reopens the database after a failed query', async () => {
  post({ type: 'write', records: batchOf(1) });
  await nextResponse();
  await dropAllTables();
  post({ type: 'query', id: 1, name: 'stats', params: {} });
  expect(await nextResponse()).toMatchObject({ type: 'failed', id: 1 });
  post({ type: 'query', id: 2, name: 'stats', params: {} });
  expect(await nextResponse()).toMatchObject({ type: 'result', id: 2, result: [] });
});

test('audit thread: closes the database on close', async () => {
  post({ type: 'write', records: batchOf(1) });
  await nextResponse();
  const closed = new Promise((resolve) => port.once('close', resolve));
  post({ type: 'close' });
  await closed;
  const log = join(stateDir, 'trunkline.db-wal');
  expect(existsSync(log) ? statSync(log).size : 0).toBe(0);
});
