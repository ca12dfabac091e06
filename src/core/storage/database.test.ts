import {
  chmodSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';

import { deferred } from '../lib/deferred.ts';
import { GatewayError } from '../errors.ts';
import { openDatabase } from './database.ts';
import type { Database } from './database.ts';
import { openRawSqlite, row, useTemporaryDatabases, databaseErrorOf } from './database.test-support.ts';
import { LazyDatabase } from './lazy-database.ts';
import { migrate } from './migrations.ts';
import { prepareQuery } from './prepared-query.ts';
import { sqliteVersion } from './sqlite.ts';
import { loadSqliteBinding } from './sqlite-binding.ts';

const place = useTemporaryDatabases();

describe('healthy database', () => {
  test('database: keeps data when it is reopened', async () => {
    const first = await place.open();
    await first.query.insertInto('listings').values(row('github', '{"text":"é€😀"}')).execute();
    await first[Symbol.asyncDispose]();
    const second = await place.open();
    expect(await second.query.selectFrom('listings').selectAll().execute()).toEqual([
      row('github', '{"text":"é€😀"}'),
    ]);
    expect(second.movedAside).toBeUndefined();
  });

  test('database: is readable only by its owner, including the log files', async () => {
    place.stateDir = join(place.stateDir, 'made', 'by', 'us');
    await place.open();
    expect(statSync(place.stateDir).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(place.stateDir))
      expect([name, statSync(join(place.stateDir, name)).mode & 0o777]).toEqual([name, 0o600]);
    expect(readdirSync(place.stateDir)).toContain('trunkline.db-wal');
  });

  test('database: restores mode 0600 on a file that others can read', async () => {
    await (await place.open())[Symbol.asyncDispose]();
    chmodSync(place.file, 0o644);
    await place.open();
    expect(statSync(place.file).mode & 0o777).toBe(0o600);
  });

  test('database: uses write-ahead logging and foreign keys', async () => {
    const { query } = await place.open();
    const value = async (pragma: string) =>
      Object.values((await sql.raw<object>(`pragma ${pragma}`).execute(query)).rows[0]!)[0];
    expect(await value('journal_mode')).toBe('wal');
    expect(await value('foreign_keys')).toBe(1);
    expect(await value('synchronous')).toBe(1);
  });

  test('transaction: rolls back completely on failure', async () => {
    const { query } = await place.open();
    const failing = query.transaction().execute(async (transaction) => {
      await transaction.insertInto('listings').values(row('a')).execute();
      await transaction.insertInto('listings').values(row('a')).execute();
    });
    expect(await databaseErrorOf(failing)).toMatchObject({ code: 'INVARIANT' });
    expect(await query.selectFrom('listings').selectAll().execute()).toEqual([]);
  });

  test('prepared statement: is reused with other values, also after a failure', async () => {
    const { query } = await place.open();
    const text = 'insert into listings (upstream, body, fingerprint, listed_at) values (?, ?, 0, 1)';
    const insert = (name: string) =>
      query
        .transaction()
        .execute((transaction) => transaction.executeQuery(prepareQuery('add', text, [name, '{}'])));
    await insert('a');
    await insert('b');
    await expect(insert('a')).rejects.toThrow(GatewayError);
    await insert('c');
    const rows = await query.selectFrom('listings').select('upstream').orderBy('upstream').execute();
    expect(rows.map(({ upstream }) => upstream)).toEqual(['a', 'b', 'c']);
  });

  test('database: accepts a boolean parameter, which libsql alone does not', async () => {
    const { query } = await place.open();
    expect((await sql<{ yes: number }>`select ${true} as yes`.execute(query)).rows).toEqual([{ yes: 1 }]);
  });

  test('query: binds undefined as null', async () => {
    const { query } = await place.open();
    const { rows } = await sql<{ none: null }>`select ${undefined} as none`.execute(query);
    expect(rows).toEqual([{ none: null }]);
  });

  test('close: finishes running work, empties the log and rejects later queries', async () => {
    const database = await place.open();
    const begun = deferred<void>();
    const late = database.query.transaction().execute(async (transaction) => {
      begun.resolve();
      await transaction.insertInto('listings').values(row('a')).execute();
      await transaction.insertInto('listings').values(row('b')).execute();
    });
    await begun.promise;
    await Promise.all([late, database[Symbol.asyncDispose](), database[Symbol.asyncDispose]()]);
    expect(await databaseErrorOf(database.query.selectFrom('eras').selectAll().execute())).toMatchObject({
      reason: 'closed',
    });
    expect(existsSync(`${place.file}-wal`) ? statSync(`${place.file}-wal`).size : 0).toBe(0);
    const again = await place.open();
    expect(await again.query.selectFrom('listings').select('upstream').execute()).toHaveLength(2);
  });

  test('lazy database: opens once for all callers and retries after a failure', async () => {
    let attempts = 0;
    await using lazy = new LazyDatabase(() => {
      attempts++;
      return attempts === 1 ? Promise.reject(new Error('first time')) : place.open();
    });
    await expect(lazy.get()).rejects.toThrow('first time');
    const [a, b] = await Promise.all([lazy.get(), lazy.get()]);
    expect(a).toBe(b);
    expect(attempts).toBe(2);
  });
});

describe('damaged database', () => {
  async function filled(): Promise<Buffer> {
    const database = await place.open();
    for (let at = 0; at < 50; at++)
      await database.query
        .insertInto('listings')
        .values(row(`u${at}`, 'x'.repeat(4000)))
        .execute();
    await database[Symbol.asyncDispose]();
    return readFileSync(place.file);
  }

  const damages: [string, () => Promise<void>][] = [
    [
      'is not a database',
      async () => writeFileSync(place.file, 'This is a letter to my aunt.\n'.repeat(200)),
    ],
    ['is too short', async () => writeFileSync(place.file, 'short')],
    ['was truncated', async () => filled().then(() => truncateSync(place.file, 4096 * 5 + 100))],
    [
      'has an overwritten first page',
      async () => writeFileSync(place.file, (await filled()).fill(0x5a, 100, 4096)),
    ],
    [
      'has a bad page in the middle',
      async () => writeFileSync(place.file, (await filled()).fill(0x5a, 4096 * 8, 4096 * 12)),
    ],
  ];
  test.each(damages)('damaged database: is moved aside and replaced when it %s', async (_, damage) => {
    await damage();
    const before = readFileSync(place.file);
    const warnings: string[] = [];
    const database = await place.open({
      log: { warn: (message) => warnings.push(message) },
      now: () => new Date('2026-01-02T03:04:05.678Z'),
    });
    expect(database.movedAside).toBe(`${place.file}.damaged-2026-01-02T03-04-05-678Z`);
    expect(readFileSync(database.movedAside!).equals(before)).toBe(true);
    expect(warnings).toEqual(['The database was damaged and has been moved aside.']);
    await database.query.insertInto('listings').values(row('new')).execute();
    expect(await database.query.selectFrom('listings').select('upstream').execute()).toEqual([
      { upstream: 'new' },
    ]);
  });

  test('damaged database: is left alone when another process has just replaced it', async () => {
    writeFileSync(place.file, 'damage');
    const { open } = await loadSqliteBinding();
    const replace = () => {
      renameSync(place.file, `${place.file}.elsewhere`);
      const sound = open(place.file, { busyTimeoutMs: 0 });
      sound.exec('create table other(a)');
      sound.close();
      return new Date();
    };
    const database = await place.open({ now: replace });
    expect(database.movedAside).toBeUndefined();
    expect(readdirSync(place.stateDir).filter((name) => name.includes('damaged'))).toEqual([]);
    const tables = await sql<{ name: string }>`select name from sqlite_schema where name = 'other'`.execute(
      database.query,
    );
    expect(tables.rows).toHaveLength(1);
  });

  test('damaged database: never overwrites an earlier damaged copy', async () => {
    const now = () => new Date('2026-01-02T03:04:05.678Z');
    for (const text of ['first damage', 'second damage']) {
      writeFileSync(place.file, text);
      writeFileSync(`${place.file}-wal`, `log of the ${text}`);
      await (await place.open({ now }))[Symbol.asyncDispose]();
      rmSync(place.file);
      rmSync(`${place.file}-wal`, { force: true });
      rmSync(`${place.file}-shm`, { force: true });
    }
    const texts = readdirSync(place.stateDir).map((name) => [
      name,
      readFileSync(join(place.stateDir, name), 'utf8'),
    ]);
    expect(Object.fromEntries(texts)).toMatchObject({
      'trunkline.db.damaged-2026-01-02T03-04-05-678Z': 'first damage',
      'trunkline.db.damaged-2026-01-02T03-04-05-678Z-2': 'second damage',
    });
  });
});

describe('unusable database', () => {
  test('database: rejects a newer schema version and leaves the file unchanged', async () => {
    const newer = await openRawSqlite(place.file);
    newer.exec('pragma journal_mode = wal; create table future(a); pragma user_version = 999');
    newer.close();
    const before = readFileSync(place.file);
    const trouble = await databaseErrorOf(openDatabase({ stateDir: place.stateDir }));
    expect(trouble).toMatchObject({ code: 'STORE_CORRUPT', reason: 'newer' });
    expect(trouble.message).toContain('has schema version 999');
    expect(readdirSync(place.stateDir).filter((name) => name.includes('damaged'))).toEqual([]);
    expect(readFileSync(place.file).equals(before)).toBe(true);
    const after = await openRawSqlite(place.file);
    expect(after.prepare('select name from sqlite_schema').run([]).rows).toEqual([{ name: 'future' }]);
    after.close();
  });

  test('database: fails with STORE_LOCKED when its folder cannot be created', async () => {
    const inTheWay = join(place.stateDir, 'file');
    writeFileSync(inTheWay, '');
    expect(await databaseErrorOf(openDatabase({ stateDir: join(inTheWay, 'state') }))).toMatchObject({
      code: 'STORE_LOCKED',
      reason: 'unavailable',
    });
  });

  test('database: fails with STORE_LOCKED on a full or read-only disk and recovers', async () => {
    const { query } = await place.open();
    await sql`pragma max_page_count = 20`.execute(query);
    const large = query.transaction().execute((transaction) =>
      transaction
        .insertInto('listings')
        .values(row('a', 'x'.repeat(1e6)))
        .execute(),
    );
    expect(await databaseErrorOf(large)).toMatchObject({ code: 'STORE_LOCKED', reason: 'full' });
    await sql`pragma query_only = 1`.execute(query);
    const write = () => query.insertInto('listings').values(row('b')).execute();
    expect(await databaseErrorOf(write())).toMatchObject({ code: 'STORE_LOCKED', reason: 'read-only' });
    await sql`pragma query_only = 0`.execute(query);
    await write();
    expect(await query.selectFrom('listings').select('upstream').execute()).toEqual([{ upstream: 'b' }]);
  });

  test('migration: is rolled back when it fails halfway', async () => {
    const { query } = await place.open();
    const version = () => sql<{ user_version: number }>`pragma user_version`.execute(query);
    const [before] = (await version()).rows;
    const broken = migrate(query, {
      file: place.file,
      version: sqliteVersion,
      migrations: [
        ...Array.from({ length: before?.user_version ?? 0 }, () => async () => {}),
        async ({ schema }) => schema.createTable('half').addColumn('a', 'text').execute(),
        () => Promise.reject(new Error('no further')),
      ],
    });
    await expect(broken).rejects.toThrow('no further');
    const tables = await sql<{ name: string }>`select name from sqlite_schema where name = 'half'`.execute(
      query,
    );
    expect(tables.rows).toEqual([]);
    expect((await version()).rows).toEqual([before]);
  });

  test('migration: runs once when two connections start at the same time', async () => {
    const [one, other] = [await place.open(), await place.open()];
    const version = sql<{ user_version: number }>`pragma user_version`;
    const done = (await version.execute(other.query)).rows[0]!.user_version;
    const migrations = [
      ...Array.from({ length: done }, () => async () => {}),
      async ({ schema }: Database['query']) => schema.createTable('half').addColumn('a', 'text').execute(),
    ];
    await Promise.all(
      [one, other].map(({ query }) =>
        migrate(query, { file: place.file, migrations, version: sqliteVersion }),
      ),
    );
    expect((await version.execute(other.query)).rows).toEqual([{ user_version: done + 1 }]);
  });

  test('open: stops waiting for a lock when aborted', async () => {
    const holder = await openRawSqlite(place.file);
    holder.exec('begin exclusive');
    const stop = new AbortController();
    setTimeout(() => stop.abort(new GatewayError('SHUTTING_DOWN', 'Stopping.')), 50);
    expect(
      await databaseErrorOf(
        openDatabase({ stateDir: place.stateDir, signal: stop.signal, lockTimeoutMs: 600_000 }),
      ),
    ).toMatchObject({ code: 'SHUTTING_DOWN' });
    holder.exec('commit');
    holder.close();
  });
});
