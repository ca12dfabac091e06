import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../../test/support/each-engine.ts';
import { openDatabase } from '../database.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../tables.ts';
import { checkAuditView } from './check-audit-view.ts';
import { createAuditTables } from './create-audit-tables.ts';
import { shrinkAuditRecords } from './shrink-audit-records.ts';
import { createRecordTables } from './create-record-tables.ts';

const WHOLE: Tables['audit'] = {
  seq: 1,
  at: 1763286e6,
  request: 'r-1',
  group_id: 'g',
  kind: 'tool',
  caller: 'me',
  via: 'cli',
  client: 'c',
  client_version: '1',
  profile: 'default',
  server: 's',
  entry: 'it\'s "e"',
  tier: 'read',
  fingerprint: 'f',
  outcome: 'failed',
  code: 'CALL_TIMEOUT',
  ms: 0.25,
  bytes_in: 1,
  bytes_out: 2,
  tokens_in: 3,
  tokens_out: 4,
  rule: 'default',
  digest: 'd',
  action: 'a',
  arguments: '{"a":"😀"}',
  result: '[1]',
  details: '{}',
  hash: 'h',
  size: 300,
};
const BARE: Tables['audit'] = {
  seq: 7,
  at: 2,
  request: 'r-2',
  group_id: null,
  kind: 'key',
  caller: 'me',
  via: 'cli',
  client: null,
  client_version: null,
  profile: 'default',
  server: null,
  entry: null,
  tier: null,
  fingerprint: null,
  outcome: 'ok',
  code: null,
  ms: null,
  bytes_in: null,
  bytes_out: null,
  tokens_in: null,
  tokens_out: null,
  rule: null,
  digest: null,
  action: null,
  arguments: null,
  result: null,
  details: null,
  hash: null,
  size: 130,
};

/** The audit table before the migration step. */
async function before({ query }: Database): Promise<void> {
  await query.schema.dropView('audit').execute();
  for (const name of ['audit_records', 'audit_commons', 'audit_ends', 'tool_stats', 'tool_latency'])
    await query.schema.dropTable(name).execute();
  await query.transaction().execute(createAuditTables);
}

eachEngine((_engine, newStore) => {
  test('audit migration: preserves all existing records', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'trunkline-record-'));
    const database = await openDatabase(await newStore(stateDir));
    onTestFinished(async () => {
      await database[Symbol.asyncDispose]();
      rmSync(stateDir, { recursive: true, force: true });
    });
    await before(database);
    const more = Array.from({ length: 1001 }, (_, at) => ({ ...BARE, seq: 8 + at }));
    for (const rows of [[WHOLE, BARE], more.slice(0, 500), more.slice(500)])
      await database.query.insertInto('audit').values(rows).execute();
    await database.query.transaction().execute(createRecordTables);
    await database.query.transaction().execute(shrinkAuditRecords);
    await database.query.transaction().execute(checkAuditView);
    const kept = await database.query.selectFrom('audit').selectAll().orderBy('seq').execute();
    expect(kept).toEqual([WHOLE, BARE, ...more]);
  });
});
