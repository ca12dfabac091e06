import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';

import { openDatabase } from '../../core/storage/database.ts';
import type { StoreLocation } from '../../core/storage/store-location.ts';
import { TestAuditLog, recordDraft } from './audit-log.test-support.ts';
import type { FlatRecordDraft } from './audit-log.test-support.ts';

type NewStore = (stateDir: string) => Promise<StoreLocation>;

async function openLogWith(newStore: NewStore, records: readonly FlatRecordDraft[]): Promise<TestAuditLog> {
  const stateDir = mkdtempSync(join(tmpdir(), 'trunkline-series-'));
  const place = await newStore(stateDir);
  const database = await openDatabase(place);
  onTestFinished(async () => {
    await database[Symbol.asyncDispose]();
    rmSync(stateDir, { recursive: true, force: true });
  });
  const settings = { place, keepMs: 1e12, maxBytes: 1e9, arguments: false, results: false, chain: false };
  const log = new TestAuditLog({ database, settings, estimate: () => 1, now: () => 0 });
  await log.write(records.map(recordDraft));
  return log;
}

const params = { from: 1000, to: 4000, bucket: 1000, isByServer: false };

eachEngine((_engine, newStore) => {
  const logOf = (records: readonly FlatRecordDraft[]) => openLogWith(newStore, records);

  test('series: counts calls per bucket with errors and quantiles', async () => {
    const log = await logOf([
      { at: 999 },
      ...Array.from({ length: 99 }, (_, at) => ({ at: 1000 + at, ms: at + 1 })),
      { at: 1999, ms: 1000, outcome: 'tool-error' },
      { at: 3999, ms: 0 },
      { at: 4000 },
    ]);
    const [all, ...others] = await log.query('series', params);
    expect(others).toEqual([]);
    expect(all).toMatchObject({ calls: [100, 0, 1], errors: [1, 0, 0] });
    const [p50, p95] = [all?.p50[0] ?? 0, all?.p95[0] ?? 0];
    // A quantile of the histogram can be off by 10 % in either direction.
    expect(Math.abs(p50 - 50)).toBeLessThan(5.5);
    expect(Math.abs(p95 - 95)).toBeLessThan(10);
    expect([all?.p50[1], all?.p95[1]]).toEqual([null, null]);
  });

  test('series: counts refused calls, but neither as errors nor in latencies', async () => {
    const log = await logOf([
      { at: 1000, outcome: 'refused', ms: 900 },
      { at: 1000, ms: undefined },
    ]);
    expect(await log.query('series', params)).toMatchObject([
      { calls: [2, 0, 0], errors: [0, 0, 0], p50: [null, null, null] },
    ]);
  });

  test('series: counts an unreachable server as an error without a latency', async () => {
    const log = await logOf([
      { at: 1000, outcome: 'failed', code: 'UPSTREAM_UNAVAILABLE', ms: 0.1 },
      { at: 2000, outcome: 'failed', code: 'CALL_TIMEOUT', ms: 900 },
    ]);
    const [all] = await log.query('series', params);
    expect(all).toMatchObject({ calls: [1, 1, 0], errors: [1, 1, 0], p50: [null, expect.any(Number), null] });
  });

  test('series: returns one series per server on request, busiest first', async () => {
    const log = await logOf([
      { at: 1000, server: 'a' },
      { at: 1000, server: 'b' },
      { at: 2000, server: 'b' },
      { at: 2000, server: undefined },
    ]);
    const series = await log.query('series', { ...params, isByServer: true });
    expect(series).toMatchObject([
      { server: 'b', calls: [1, 1, 0] },
      { server: 'a', calls: [1, 0, 0] },
    ]);
  });

  test('series: applies filters and omits records that are not operations', async () => {
    const log = await logOf([
      { at: 1000, caller: 'anna' },
      { at: 1000, caller: 'bert' },
      { at: 1000, caller: 'anna', kind: 'key', action: 'add' },
    ]);
    expect(await log.query('series', { ...params, caller: 'a*' })).toMatchObject([{ calls: [1, 0, 0] }]);
  });

  test('series: returns a single series of zeros without records', async () => {
    const log = await logOf([]);
    expect(await log.query('series', params)).toMatchObject([{ calls: [0, 0, 0], errors: [0, 0, 0] }]);
    expect(await log.query('series', { ...params, isByServer: true })).toEqual([]);
  });

  test('token counts: adds up per day', async () => {
    const log = await logOf([]);
    const counts = { whole: 10, menu: 3, search: 2, lists: 1, searches: 1 };
    for (const day of ['2026-01-01', '2026-01-02', '2026-01-02'])
      await log.query('addTokens', { day, ...counts });
    expect(await log.query('tokens', { from: '2026-01-02' })).toEqual([
      { day: '2026-01-02', whole: 20, menu: 6, search: 4, lists: 2, searches: 2 },
    ]);
  });
});
