import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';

import { openDatabase } from '../../storage/database.ts';
import type { StorePlace } from '../../storage/store-place.ts';
import { AuditStore } from './audit-store.ts';
import { rawRecord } from './raw-record.test-support.ts';
import type { FlatRecord } from './raw-record.test-support.ts';

type NewStore = (stateDir: string) => Promise<StorePlace>;

async function storeIn(newStore: NewStore, records: readonly FlatRecord[]): Promise<AuditStore> {
  const stateDir = mkdtempSync(join(tmpdir(), 'trunkline-series-'));
  const place = await newStore(stateDir);
  const database = await openDatabase(place);
  onTestFinished(async () => {
    await database[Symbol.asyncDispose]();
    rmSync(stateDir, { recursive: true, force: true });
  });
  const settings = { place, keepMs: 1e12, maxBytes: 1e9, arguments: false, results: false, chain: false };
  const store = new AuditStore({ database, settings, estimate: () => 1, now: () => 0 });
  await store.write(records.map(rawRecord));
  return store;
}

const asked = { from: 1000, to: 4000, bucket: 1000, isByServer: false };

eachEngine((_engine, newStore) => {
  const storeOf = (records: readonly FlatRecord[]) => storeIn(newStore, records);

  test('counts operations in buckets, each with its errors and quantiles', async () => {
    const store = await storeOf([
      { at: 999 },
      ...Array.from({ length: 99 }, (_, at) => ({ at: 1000 + at, ms: at + 1 })),
      { at: 1999, ms: 1000, outcome: 'tool-error' },
      { at: 3999, ms: 0 },
      { at: 4000 },
    ]);
    const [all, ...others] = await store.answer('series', asked);
    expect(others).toEqual([]);
    expect(all).toMatchObject({ calls: [100, 0, 1], errors: [1, 0, 0] });
    const [p50, p95] = [all?.p50[0] ?? 0, all?.p95[0] ?? 0];
    // The histogram is a tenth wide to either side.
    expect(Math.abs(p50 - 50)).toBeLessThan(5.5);
    expect(Math.abs(p95 - 95)).toBeLessThan(10);
    expect([all?.p50[1], all?.p95[1]]).toEqual([null, null]);
  });

  test('what was refused counts as a call, and says nothing about how its server fares', async () => {
    const store = await storeOf([
      { at: 1000, outcome: 'refused', ms: 900 },
      { at: 1000, ms: undefined },
    ]);
    expect(await store.answer('series', asked)).toMatchObject([
      { calls: [2, 0, 0], errors: [0, 0, 0], p50: [null, null, null] },
    ]);
  });

  test('a server that was not reached has an error without a duration', async () => {
    const store = await storeOf([
      { at: 1000, outcome: 'failed', code: 'UPSTREAM_UNAVAILABLE', ms: 0.1 },
      { at: 2000, outcome: 'failed', code: 'CALL_TIMEOUT', ms: 900 },
    ]);
    const [all] = await store.answer('series', asked);
    expect(all).toMatchObject({ calls: [1, 1, 0], errors: [1, 1, 0], p50: [null, expect.any(Number), null] });
  });

  test('has one series per server on request, the busiest first', async () => {
    const store = await storeOf([
      { at: 1000, server: 'a' },
      { at: 1000, server: 'b' },
      { at: 2000, server: 'b' },
      { at: 2000, server: undefined },
    ]);
    const series = await store.answer('series', { ...asked, isByServer: true });
    expect(series).toMatchObject([
      { server: 'b', calls: [1, 1, 0] },
      { server: 'a', calls: [1, 0, 0] },
    ]);
  });

  test('takes the conditions of a filter, and leaves out what is no operation', async () => {
    const store = await storeOf([
      { at: 1000, caller: 'anna' },
      { at: 1000, caller: 'bert' },
      { at: 1000, caller: 'anna', kind: 'key', action: 'add' },
    ]);
    expect(await store.answer('series', { ...asked, caller: 'a*' })).toMatchObject([{ calls: [1, 0, 0] }]);
  });

  test('without any record there is one series of nothing', async () => {
    const store = await storeOf([]);
    expect(await store.answer('series', asked)).toMatchObject([{ calls: [0, 0, 0], errors: [0, 0, 0] }]);
    expect(await store.answer('series', { ...asked, isByServer: true })).toEqual([]);
  });

  test('adds up what was counted for a day', async () => {
    const store = await storeOf([]);
    const counts = { whole: 10, menu: 3, search: 2, lists: 1, searches: 1 };
    for (const day of ['2026-01-01', '2026-01-02', '2026-01-02'])
      await store.answer('addTokens', { day, ...counts });
    expect(await store.answer('tokens', { from: '2026-01-02' })).toEqual([
      { day: '2026-01-02', whole: 20, menu: 6, search: 4, lists: 2, searches: 2 },
    ]);
  });
});
