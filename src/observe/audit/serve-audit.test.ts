import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';

import Libsql from 'libsql';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { found } from '../../../test/support/eventually.ts';
import type { FromThread, ToThread } from './audit-batch.ts';
import { RecordBatch } from './packed-records.ts';
import type { PackedRecords } from './packed-records.ts';
import { rawRecord } from './raw-record.test-support.ts';
import { serveAudit } from './serve-audit.ts';

let stateDir: string;
let port: MessagePort;
let heard: FromThread[];

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'trunkline-audit-'));
  const { port1, port2 } = new MessageChannel();
  heard = [];
  port = port1;
  port.on('message', (message: FromThread) => heard.push(message));
  serveAudit(port2, {
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

function say(message: ToThread): void {
  port.postMessage(message);
}

/** The next thing that is said. */
function next(): Promise<FromThread> {
  return found(() => heard.shift(), { what: 'An answer of the thread', withinMs: 10_000 });
}

function record(at: number): PackedRecords {
  const batch = new RecordBatch('r', at);
  batch.add(rawRecord({ at, group: 'g', entry: 'e', tier: 'read' }));
  return batch.packed();
}

/** As after a restored backup: what was opened before is of no use any more, what is opened anew is. */
function emptied(): void {
  const database = new Libsql(join(stateDir, 'trunkline.db'));
  database.exec('pragma foreign_keys = off');
  const tables = database
    .prepare(
      "select name, type from sqlite_master where type in ('view', 'table') and name not like 'sqlite_%'",
    )
    .all() as { name: string; type: string }[];
  for (const { name, type } of tables) database.exec(`drop ${type} "${name}"`);
  database.exec('pragma user_version = 0');
  database.close();
}

test('what cannot be written is written to a database that is opened anew', async () => {
  say({ type: 'write', records: record(1) });
  expect(await next()).toEqual({ type: 'written', count: 1 });
  emptied();
  say({ type: 'write', records: record(2) });
  expect(await next()).toEqual({ type: 'written', count: 1 });
  say({ type: 'ask', id: 1, question: 'totals', ask: {} });
  expect(await next()).toMatchObject({ type: 'answer', answer: { records: 1 } });
});

test('a question that cannot be answered is the last one that cannot', async () => {
  say({ type: 'write', records: record(1) });
  await next();
  emptied();
  say({ type: 'ask', id: 1, question: 'stats', ask: {} });
  expect(await next()).toMatchObject({ type: 'failed', id: 1 });
  say({ type: 'ask', id: 2, question: 'stats', ask: {} });
  expect(await next()).toMatchObject({ type: 'answer', id: 2, answer: [] });
});

test('the database is closed with the thread', async () => {
  say({ type: 'write', records: record(1) });
  await next();
  const closed = new Promise((resolve) => port.once('close', resolve));
  say({ type: 'close' });
  await closed;
  const log = join(stateDir, 'trunkline.db-wal');
  expect(existsSync(log) ? statSync(log).size : 0).toBe(0);
});
