import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';

import { openDatabase } from '../../core/storage/database.ts';
import type { Database } from '../../core/storage/database.ts';
import type { StoreLocation } from '../../core/storage/store-location.ts';
import type { AuditSettings } from './audit-messages.ts';
import type { RecordDraft } from './record-batch.ts';
import { TestAuditLog, recordDraft } from './audit-log.test-support.ts';
import type { FlatRecordDraft } from './audit-log.test-support.ts';

let stateDir: string;
let place: StoreLocation;
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

function openLog(settings: Partial<AuditSettings> = {}): TestAuditLog {
  const defaults = { place, keepMs: 1000, maxBytes: 1e9, arguments: false, results: false, chain: true };
  return new TestAuditLog({
    database,
    settings: { ...defaults, ...settings },
    estimate: (text) => text.length,
    now: () => now,
  });
}

function draft(at: number, more: FlatRecordDraft = {}): RecordDraft {
  return recordDraft({
    at,
    request: `r${at}`,
    group: 'g',
    entry: 'e',
    tier: 'read',
    bytesIn: 2,
    bytesOut: 3,
    rule: 'default',
    ...more,
  });
}

eachEngine((engine, newStore) => {
  beforeEach(async () => {
    place = await newStore(stateDir);
    database = await openDatabase(place);
  });

  test('stats: count refused calls separately from errors', async () => {
    const log = openLog();
    await log.write([
      draft(1),
      draft(2, { outcome: 'refused', code: 'RATE_LIMITED', ms: 900 }),
      draft(3, { outcome: 'refused', code: 'ARGUMENTS_INVALID', ms: undefined }),
      draft(4, { outcome: 'tool-error' }),
      draft(5, { outcome: 'failed', code: 'UPSTREAM_CLOSED' }),
    ]);
    const [stats] = await log.query('stats', {});
    expect(stats).toMatchObject({ calls: 5, errors: 2, refused: 2, lastAt: 5 });
    // Refused calls do not count towards the latency.
    expect(stats?.p99).toBeLessThan(10);
  });

  test('write: stores a call with deeply nested arguments beside the other calls of its batch', async () => {
    const log = openLog({ arguments: true });
    const argumentText = `${'{"deep":'.repeat(100_000)}{}${'}'.repeat(100_000)}`;
    await log.write([draft(1), draft(2, { argumentText }), draft(3)]);
    const stored = await log.query('records', { limit: 10, order: 'asc' });
    expect(stored.map(({ at }) => at)).toEqual([1, 2, 3]);
    expect(stored[1]).toMatchObject({
      digest: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      arguments: expect.stringContaining('[redacted]') as string,
    });
  });

  test('retention: deletes records beyond their maximum age and keeps the hash chain valid', async () => {
    const log = openLog();
    await log.write([draft(1), draft(2)]);
    now = 100_000;
    await log.write([draft(99_999)]);
    const left = await log.query('records', { limit: 10, order: 'asc' });
    expect(left.map(({ seq }) => seq)).toEqual([3]);
    expect(await log.query('verify', {})).toMatchObject({ ok: true, checked: 1 });
    await log.write([draft(100_000)]);
    expect(await log.query('verify', {})).toMatchObject({ ok: true, checked: 2 });
  });

  test('retention: deletes the oldest records beyond the size limit and keeps the stats', async () => {
    const log = openLog({ maxBytes: 1000, keepMs: 1e9 });
    await log.write(Array.from({ length: 50 }, (_, at) => draft(at)));
    const { records, bytes } = await log.query('totals', {});
    expect(records).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(1000);
    expect(await log.query('verify', {})).toMatchObject({ ok: true, checked: records });
    // Deleting records does not change the statistics.
    expect(await log.query('stats', {})).toMatchObject([{ server: 's', entry: 'e', calls: 50 }]);
  });

  test.runIf(engine === 'sqlite')(
    'full disk: rejects a whole batch and writes it when there is space again',
    async () => {
      const log = openLog({ keepMs: 1e9 });
      await log.write([draft(1)]);
      await sql`pragma max_page_count = 1`.execute(database.query); // SQLite raises this to the current number of pages.
      const large = Array.from({ length: 500 }, (_, at) => draft(at, { entry: 'e'.repeat(400) }));
      await expect(log.write(large)).rejects.toMatchObject({
        message: expect.stringMatching(/full/i) as string,
      });
      expect(await log.query('totals', {})).toMatchObject({ records: 1 });
      await sql`pragma max_page_count = 1000000`.execute(database.query);
      await log.write(large);
      expect(await log.query('totals', {})).toMatchObject({ records: 501 });
      expect(await log.query('verify', {})).toMatchObject({ ok: true, checked: 501 });
    },
  );

  test('arguments: hashes them independent of key order and stores them only if configured', async () => {
    await openLog({ chain: false }).write([
      draft(1, { argumentText: '{"a":1,"b":2}' }),
      draft(2, { argumentText: '{"b":2,"a":1}' }),
    ]);
    await openLog({ chain: false, arguments: true, results: true }).write([
      draft(3, { argumentText: '{"password":"x","b":2}', resultText: '{"content":"ok"}', resultChars: 1600 }),
    ]);
    const [first, second, third] = await openLog().query('records', { limit: 10, order: 'asc' });
    expect(first?.digest).toBe(second?.digest);
    expect(first?.arguments).toBeUndefined();
    expect(third).toMatchObject({
      arguments: '{"password":"[redacted]","b":2}',
      result: '{"content":"ok"}',
      tokensOut: 1600,
    });
  });

  test('query: filters by every field and treats only * as a wildcard', async () => {
    const log = openLog({ keepMs: 1e9 });
    await log.write([
      draft(1, { entry: 'a_b' }),
      draft(2, { entry: 'axb', outcome: 'failed', code: 'CALL_TIMEOUT', ms: 900 }),
    ]);
    const found = async (filter: object): Promise<readonly number[]> =>
      (await log.query('records', { ...filter, limit: 10, order: 'asc' })).map(({ seq }) => seq);
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

  test('write: stores thousands of records in order, each with its own and its common fields', async () => {
    const log = openLog({ keepMs: 1e9 });
    await log.write([draft(7)]);
    const many = Array.from({ length: 2345 }, (_, index) =>
      draft(index % 1000, { entry: `e${index % 7}`, ms: index }),
    );
    await log.write(many);
    const stored = await log.query('records', { limit: 5000, order: 'asc', after: 1 });
    expect(stored.map(({ seq, at, entry, ms }) => [seq, at, entry, ms])).toEqual(
      many.map(({ at, ms }, index) => [index + 2, at, `e${index % 7}`, ms]),
    );
    expect(await log.query('verify', {})).toMatchObject({ ok: true, checked: 2346 });
  });

  test('query: finds records by time although they were written out of order', async () => {
    const log = openLog({ keepMs: 1e9 });
    await log.write([draft(100), draft(110)]);
    await log.write([draft(200), draft(5), draft(210)]);
    await log.write([draft(300), draft(150, { entry: 'other' })]);
    const found = async (filter: object): Promise<readonly number[]> =>
      (await log.query('records', { ...filter, limit: 10, order: 'asc' })).map(({ at }) => at);
    expect(await found({ until: 100 })).toEqual([5]);
    expect(await found({ since: 110, until: 201 })).toEqual([110, 200, 150]);
    expect(await found({ since: 210 })).toEqual([210, 300]);
    expect(await found({ since: 301 })).toEqual([]);
    expect(await found({ until: 5 })).toEqual([]);
  });

  test('verify: detects a changed record', async () => {
    const log = openLog({ keepMs: 1e9 });
    await log.write([draft(1), draft(2), draft(3)]);
    await database.query.updateTable('audit_records').set({ at: 7 }).where('seq', '=', 2).execute();
    expect(await log.query('verify', {})).toMatchObject({ ok: false, problem: { seq: 2 } });
  });

  test('hash chain: stays a single chain with concurrent writers', async () => {
    const other = await openDatabase({ ...place, lane: 'audit' });
    await using own = await openDatabase({ ...place, lane: 'audit' });
    const settings = { place, keepMs: 1e9, maxBytes: 1e9, arguments: false, results: false, chain: true };
    const deps = { settings, estimate: () => 1, now: () => now };
    const logs = [
      new TestAuditLog({ ...deps, database: other }),
      new TestAuditLog({ ...deps, database: own }),
    ];
    const batch = (of: number) => [draft(of), draft(of, { entry: 'with\0nul' }), draft(of, { entry: 'E' })];
    await Promise.all(Array.from({ length: 12 }, (_, at) => logs[at % 2]!.write(batch(at))));
    await other[Symbol.asyncDispose]();
    const log = openLog({ keepMs: 1e9 });
    expect(await log.query('verify', {})).toMatchObject({ ok: true, checked: 36, unchained: 0 });
    const all = await log.query('records', { limit: 100, order: 'asc' });
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 36 }, (_, at) => at + 1));
    expect(await log.query('stats', { entry: 'E' })).toMatchObject([{ calls: 12 }]);
  });

  test('write: does not duplicate a batch on retry', async () => {
    const log = openLog({ keepMs: 1e9 });
    await log.write([draft(1), draft(2)]);
    await log.write([draft(1), draft(2)], { isRetry: true });
    await log.write([draft(3)], { isRetry: true });
    expect(await log.query('totals', {})).toMatchObject({ records: 3 });
  });

  test('write: keeps optional fields per record, in order', async () => {
    const log = openLog({ keepMs: 1e9, arguments: true, results: true });
    await log.write([
      draft(1, { argumentText: '{"a":"it\'s"}', ms: 0.25 }),
      draft(2, { entry: 'other', resultText: '"\u{1F600}"', resultChars: 4 }),
      draft(3, { group: 'half \uD800 of one', ms: undefined }),
      draft(4, { kind: 'key', action: 'add', server: undefined, details: '{"a":1}' }),
    ]);
    const stored = await log.query('records', { limit: 10, order: 'asc' });
    expect(stored).toMatchObject([
      { seq: 1, entry: 'e', arguments: '{"a":"it\'s"}', ms: 0.25, bytesIn: 2 },
      { seq: 2, entry: 'other', result: '"\u{1F600}"', ms: 5 },
      { seq: 3, entry: 'e', group: 'half \uFFFD of one' },
      { seq: 4, kind: 'key', action: 'add', details: '{"a":1}' },
    ]);
    expect(stored.map((record) => ['ms' in record, 'arguments' in record, 'details' in record])).toEqual([
      [true, true, false],
      [true, false, false],
      [false, false, false],
      [true, false, true],
    ]);
    expect(await log.query('verify', {})).toMatchObject({ ok: true, checked: 4 });
    expect(await log.query('stats', {})).toMatchObject([{ calls: 2 }, { calls: 1 }]);
  });

  test('query: returns all other records beside rows with wrong values', async () => {
    const log = openLog({ keepMs: 1e9, chain: false });
    await log.write([draft(1), draft(2, { ms: 0.25 })]);
    const wrongValues = [
      '"x"',
      '{"a":1}',
      '[]',
      'true',
      '1e300',
      '-1e300',
      '1e-400',
      '1.5',
      '""',
      '9223372036854775807',
    ];
    const bodies = [
      ...wrongValues.map((value) => `["planted",null,${Array(5).fill(value).join(',')},null,${value}]`),
      '{}',
      '"text"',
      'null',
      '5',
      '[[[[[[[[[]]]]]]]]]',
      // PostgreSQL refuses to store these.
      ...(engine === 'sqlite' ? ['', 'not JSON', '["planted"', '["planted",null,9e999]'] : []),
    ];
    const common = {
      kind: 'tool',
      caller: 'c',
      via: 'http',
      profile: 'p',
      outcome: 'ok',
      server: 's',
      entry: 'e',
    };
    const range = { last_seq: 999, first_at: 0, last_at: Number.MAX_SAFE_INTEGER };
    await database.query
      .insertInto('audit_commons')
      .values({ id: 100, ...range, ...common })
      .execute();
    for (const [index, body] of bodies.entries())
      await database.query
        .insertInto('audit_records')
        .values({ seq: 100 + index, at: index % 2 === 0 ? 3 : Number.MAX_SAFE_INTEGER, common: 100, body })
        .execute();
    const all = await log.query('records', { limit: 100, order: 'asc' });
    expect(all.slice(0, 2)).toMatchObject([
      { seq: 1, ms: 5, bytesIn: 2, bytesOut: 3 },
      { seq: 2, ms: 0.25 },
    ]);
    expect(all).toHaveLength(2 + bodies.length);
    for (const { ms, bytesIn, at } of all) {
      expect(ms === undefined || Number.isFinite(ms)).toBe(true);
      expect(bytesIn === undefined || Number.isSafeInteger(bytesIn)).toBe(true);
      expect(new Date(at).toISOString()).toMatch(/T/);
    }
    expect(await log.query('records', { minMs: 5, limit: 10, order: 'asc' })).toMatchObject([{ seq: 1 }]);
    expect(await log.query('totals', {})).toMatchObject({ records: 2 + bodies.length });
    const [series] = await log.query('series', { from: 0, to: 100, bucket: 10, isByServer: false });
    expect(series?.calls[0]).toBe(2 + Math.ceil(bodies.length / 2));
    expect(await log.query('verify', {})).toMatchObject({ unchained: 2 + bodies.length });
    await log.write([draft(4)]);
    now = 2e9;
    await log.write([draft(now)]);
    expect(await log.query('records', { limit: 1, order: 'asc' })).toMatchObject([{ at: now }]);
  });

  test('query: matches case-insensitively with a wildcard', async () => {
    const log = openLog({ keepMs: 1e9 });
    await log.write([draft(1, { entry: 'Read_File' }), draft(2, { entry: 'write' })]);
    const found = await log.query('records', { entry: 'read*', limit: 10, order: 'asc' });
    expect(found.map(({ seq }) => seq)).toEqual([1]);
  });
});
