import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';

import { openDatabase } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import type { StorePlace } from '../../storage/store-place.ts';
import type { AuditSettings, RawRecord } from './audit-batch.ts';
import { AuditStore } from './audit-store.ts';
import { rawRecord } from './raw-record.test-support.ts';
import type { FlatRecord } from './raw-record.test-support.ts';

let stateDir: string;
let place: StorePlace;
let database: Database;
let now = 0;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'trunkline-audit-'));
  now = 0;
});

afterEach(async () => {
  await database[Symbol.asyncDispose]();
  rmSync(stateDir, { recursive: true, force: true });
});

function storeWith(settings: Partial<AuditSettings> = {}): AuditStore {
  const all = { place, keepMs: 1000, maxBytes: 1e9, arguments: false, results: false, chain: true };
  return new AuditStore({
    database,
    settings: { ...all, ...settings },
    estimate: (text) => text.length,
    now: () => now,
  });
}

function raw(at: number, more: FlatRecord = {}): RawRecord {
  return rawRecord({
    ...{ at, request: `r${at}`, group: 'g', entry: 'e', tier: 'read', bytesIn: 2, bytesOut: 3 },
    ...{ rule: 'default', ...more },
  });
}

eachEngine((engine, newStore) => {
  beforeEach(async () => {
    place = await newStore(stateDir);
    database = await openDatabase(place);
  });

  test('counts what was refused apart from what failed', async () => {
    const store = storeWith();
    await store.write([
      raw(1),
      raw(2, { outcome: 'refused', code: 'RATE_LIMITED', ms: 900 }),
      raw(3, { outcome: 'refused', code: 'ARGUMENTS_INVALID', ms: undefined }),
      raw(4, { outcome: 'tool-error' }),
      raw(5, { outcome: 'failed', code: 'UPSTREAM_CLOSED' }),
    ]);
    const [stats] = await store.answer('stats', {});
    expect(stats).toMatchObject({ calls: 5, errors: 2, refused: 2, lastAt: 5 });
    // What never reached the server took it no time.
    expect(stats?.p99).toBeLessThan(10);
  });

  test('removes what is too old, and the chain is still whole', async () => {
    const store = storeWith();
    await store.write([raw(1), raw(2)]);
    now = 100_000;
    await store.write([raw(99_999)]);
    const left = await store.answer('query', { limit: 10, order: 'asc' });
    expect(left.map(({ seq }) => seq)).toEqual([3]);
    expect(await store.answer('verify', {})).toMatchObject({ ok: true, checked: 1 });
    await store.write([raw(100_000)]);
    expect(await store.answer('verify', {})).toMatchObject({ ok: true, checked: 2 });
  });

  test('removes the oldest when there is too much', async () => {
    const store = storeWith({ maxBytes: 1000, keepMs: 1e9 });
    await store.write(Array.from({ length: 50 }, (_, at) => raw(at)));
    const { records, bytes } = await store.answer('totals', {});
    expect(records).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(1000);
    expect(await store.answer('verify', {})).toMatchObject({ ok: true, checked: records });
    // What was counted stays.
    expect(await store.answer('stats', {})).toMatchObject([{ server: 's', entry: 'e', calls: 50 }]);
  });

  test.runIf(engine === 'sqlite')(
    'a full disk refuses a whole batch, and the next one is written when there is room',
    async () => {
      const store = storeWith({ keepMs: 1e9 });
      await store.write([raw(1)]);
      await sql`pragma max_page_count = 1`.execute(database.query); // Not less than there are.
      const large = Array.from({ length: 500 }, (_, at) => raw(at, { entry: 'e'.repeat(400) }));
      await expect(store.write(large)).rejects.toMatchObject({
        message: expect.stringMatching(/full/i) as string,
      });
      expect(await store.answer('totals', {})).toMatchObject({ records: 1 });
      await sql`pragma max_page_count = 1000000`.execute(database.query);
      await store.write(large);
      expect(await store.answer('totals', {})).toMatchObject({ records: 501 });
      expect(await store.answer('verify', {})).toMatchObject({ ok: true, checked: 501 });
    },
  );

  test('hashes arguments whatever the order of their keys, and keeps them only where that is configured', async () => {
    await storeWith({ chain: false }).write([
      raw(1, { argumentText: '{"a":1,"b":2}' }),
      raw(2, { argumentText: '{"b":2,"a":1}' }),
    ]);
    await storeWith({ chain: false, arguments: true, results: true }).write([
      raw(3, { argumentText: '{"password":"x","b":2}', resultText: '{"content":"ok"}', resultChars: 1600 }),
    ]);
    const [first, second, third] = await storeWith().answer('query', { limit: 10, order: 'asc' });
    expect(first?.digest).toBe(second?.digest);
    expect(first?.arguments).toBeUndefined();
    expect(third).toMatchObject({
      arguments: '{"password":"[redacted]","b":2}',
      result: '{"content":"ok"}',
      tokensOut: 1600,
    });
  });

  test('finds by every field, and takes a star but no other sign for anything', async () => {
    const store = storeWith({ keepMs: 1e9 });
    await store.write([
      raw(1, { entry: 'a_b' }),
      raw(2, { entry: 'axb', outcome: 'failed', code: 'CALL_TIMEOUT', ms: 900 }),
    ]);
    const found = async (filter: object): Promise<readonly number[]> =>
      (await store.answer('query', { ...filter, limit: 10, order: 'asc' })).map(({ seq }) => seq);
    expect(await found({ entry: 'a_*' })).toEqual([1]);
    expect(await found({ entry: 'a*b' })).toEqual([1, 2]);
    const others = [
      ['s', 'axb'],
      ['other', 'a_b'],
    ];
    expect(await found({ entry: 's__*', others })).toEqual([2]);
    expect(await found({ entry: 'a_*', others })).toEqual([1, 2]);
    expect(await found({ errors: true })).toEqual([2]);
    expect(
      await found({ code: 'CALL_TIMEOUT', minMs: 100, since: 2, caller: 'me', tier: 'read', request: 'r2' }),
    ).toEqual([2]);
    expect(await found({ after: 1 })).toEqual([2]);
    expect(await found({ before: 2, until: 2 })).toEqual([1]);
    expect(await found({ group: 'other' })).toEqual([]);
  });

  test('writes many at once, each with its own and with what it has in common with others', async () => {
    const store = storeWith({ keepMs: 1e9 });
    await store.write([raw(7)]);
    const many = Array.from({ length: 2345 }, (_, at) => raw(at % 1000, { entry: `e${at % 7}`, ms: at }));
    await store.write(many);
    const kept = await store.answer('query', { limit: 5000, order: 'asc', after: 1 });
    expect(kept.map(({ seq, at, entry, ms }) => [seq, at, entry, ms])).toEqual(
      many.map(({ at, ms }, place) => [place + 2, at, `e${place % 7}`, ms]),
    );
    expect(await store.answer('verify', {})).toMatchObject({ ok: true, checked: 2346 });
  });

  test('finds by time what was written much later than it began', async () => {
    const store = storeWith({ keepMs: 1e9 });
    await store.write([raw(100), raw(110)]);
    await store.write([raw(200), raw(5), raw(210)]);
    await store.write([raw(300), raw(150, { entry: 'other' })]);
    const found = async (filter: object): Promise<readonly number[]> =>
      (await store.answer('query', { ...filter, limit: 10, order: 'asc' })).map(({ at }) => at);
    expect(await found({ until: 100 })).toEqual([5]);
    expect(await found({ since: 110, until: 201 })).toEqual([110, 200, 150]);
    expect(await found({ since: 210 })).toEqual([210, 300]);
    expect(await found({ since: 301 })).toEqual([]);
    expect(await found({ until: 5 })).toEqual([]);
  });

  test('sees that a record was changed', async () => {
    const store = storeWith({ keepMs: 1e9 });
    await store.write([raw(1), raw(2), raw(3)]);
    await database.query.updateTable('audit_records').set({ at: 7 }).where('seq', '=', 2).execute();
    expect(await store.answer('verify', {})).toMatchObject({ ok: false, problem: { seq: 2 } });
  });

  test('several that write at the same time make one chain', async () => {
    const other = await openDatabase({ ...place, lane: 'audit' });
    await using own = await openDatabase({ ...place, lane: 'audit' });
    const settings = { place, keepMs: 1e9, maxBytes: 1e9, arguments: false, results: false, chain: true };
    const deps = { settings, estimate: () => 1, now: () => now };
    const stores = [new AuditStore({ ...deps, database: other }), new AuditStore({ ...deps, database: own })];
    const batch = (of: number) => [raw(of), raw(of, { entry: 'with\0nul' }), raw(of, { entry: 'E' })];
    await Promise.all(Array.from({ length: 12 }, (_, at) => stores[at % 2]!.write(batch(at))));
    await other[Symbol.asyncDispose]();
    const store = storeWith({ keepMs: 1e9 });
    expect(await store.answer('verify', {})).toMatchObject({ ok: true, checked: 36, unchained: 0 });
    const all = await store.answer('query', { limit: 100, order: 'asc' });
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 36 }, (_, at) => at + 1));
    expect(await store.answer('stats', { entry: 'E' })).toMatchObject([{ calls: 12 }]);
  });

  test('a batch that was written although nobody heard of it is not written twice', async () => {
    const store = storeWith({ keepMs: 1e9 });
    await store.write([raw(1), raw(2)]);
    await store.write([raw(1), raw(2)], { isAgain: true });
    await store.write([raw(3)], { isAgain: true });
    expect(await store.answer('totals', {})).toMatchObject({ records: 3 });
  });

  test('keeps what only one of several records has, in the order in which they came', async () => {
    const store = storeWith({ keepMs: 1e9, arguments: true, results: true });
    await store.write([
      raw(1, { argumentText: '{"a":"it\'s"}', ms: 0.25 }),
      raw(2, { entry: 'other', resultText: '"\u{1F600}"', resultChars: 4 }),
      raw(3, { group: 'half \uD800 of one', ms: undefined }),
      raw(4, { kind: 'key', action: 'add', server: undefined, details: '{"a":1}' }),
    ]);
    const kept = await store.answer('query', { limit: 10, order: 'asc' });
    expect(kept).toMatchObject([
      { seq: 1, entry: 'e', arguments: '{"a":"it\'s"}', ms: 0.25, bytesIn: 2 },
      { seq: 2, entry: 'other', result: '"\u{1F600}"', ms: 5 },
      { seq: 3, entry: 'e', group: 'half \uFFFD of one' },
      { seq: 4, kind: 'key', action: 'add', details: '{"a":1}' },
    ]);
    expect(kept.map((record) => ['ms' in record, 'arguments' in record, 'details' in record])).toEqual([
      [true, true, false],
      [true, false, false],
      [false, false, false],
      [true, false, true],
    ]);
    expect(await store.answer('verify', {})).toMatchObject({ ok: true, checked: 4 });
    expect(await store.answer('stats', {})).toMatchObject([{ calls: 2 }, { calls: 1 }]);
  });

  test('a star makes capitals count as small letters', async () => {
    const store = storeWith({ keepMs: 1e9 });
    await store.write([raw(1, { entry: 'Read_File' }), raw(2, { entry: 'write' })]);
    const found = await store.answer('query', { entry: 'read*', limit: 10, order: 'asc' });
    expect(found.map(({ seq }) => seq)).toEqual([1]);
  });
});
