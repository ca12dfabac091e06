import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { sharedPostgres } from '../../../test/support/postgres.ts';
import type { PostgresCluster } from '../../../test/support/postgres.ts';
import { startTcpProxy } from '../../../test/support/tcp-proxy.ts';
import type { TcpProxy } from '../../../test/support/tcp-proxy.ts';
import type { GatewayError } from '../../../src/core/errors.ts';
import { openDatabase } from '../../../src/core/storage/database.ts';
import type { Database } from '../../../src/core/storage/database.ts';
import { withLease } from '../../../src/core/storage/lease.ts';
import type { PostgresServer } from '../../../src/core/storage/store-location.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

let cluster: PostgresCluster;
beforeAll(async () => void (cluster = await sharedPostgres()), 90_000);

async function open(server: PostgresServer): Promise<Database> {
  const database = await openDatabase({ stateDir: '/nowhere', server });
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

/** Returns the same database behind a proxy that can cut connections. */
async function throughProxy(server: PostgresServer): Promise<{ proxy: TcpProxy; server: PostgresServer }> {
  const proxy = await startTcpProxy();
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const { port } = new URL(proxy.forwardTo(server.url));
  return { proxy, server: { ...server, url: server.url.replace(/:\d+\//, `:${port}/`) } };
}

const trouble = async (work: Promise<unknown>): Promise<GatewayError> => {
  try {
    await work;
  } catch (error) {
    return error as GatewayError; // All database failures are GatewayErrors.
  }
  throw new Error('It went well.');
};

test('postgres: migrates once when three connections start at the same time', async () => {
  const server = await cluster.newSchema();
  const [first, ...others] = await Promise.all([open(server), open(server), open(server)]);
  await first.query
    .insertInto('changes')
    .values({ topic: 'x', revision: 2 ** 50 })
    .execute();
  for (const { query } of others)
    expect(await query.selectFrom('changes').selectAll().execute()).toEqual([
      { topic: 'x', revision: 2 ** 50 },
    ]);
});

test('postgres: rejects a newer schema version', async () => {
  const server = await cluster.newSchema();
  const { query } = await open(server);
  await sql`update schema_version set version = 999`.execute(query);
  expect(await trouble(open(server))).toMatchObject({ code: 'STORE_CORRUPT', details: { reason: 'newer' } });
});

test('postgres: sorts text by bytes and replaces NUL characters', async () => {
  const { query } = await open(await cluster.newSchema());
  const names = ['b', 'B', '_', 'a', 'ä', 'A\0b'];
  await query
    .insertInto('changes')
    .values(names.map((topic) => ({ topic, revision: 1 })))
    .execute();
  const rows = await query.selectFrom('changes').select('topic').orderBy('topic').execute();
  expect(rows.map(({ topic }) => topic)).toEqual(['A\uFFFDb', 'B', '_', 'a', 'b', 'ä']);
});

test('postgres: loses no write of concurrent read-then-write transactions', async () => {
  const server = await cluster.newSchema();
  const all = await Promise.all([open(server), open(server)]);
  const add = ({ query }: Database) =>
    query.transaction().execute(async (transaction) => {
      const row = await transaction.selectFrom('audit_ends').selectAll().executeTakeFirst();
      const last_seq = (row?.last_seq ?? 0) + 1;
      await (row === undefined
        ? transaction
            .insertInto('audit_ends')
            .values({ id: 1, last_seq, bytes: 0, head: null, base: null, chained: 0 })
            .execute()
        : transaction.updateTable('audit_ends').set({ last_seq }).execute());
    });
  await Promise.all(Array.from({ length: 20 }, (_, at) => add(all[at % 2]!)));
  expect(await all[0].query.selectFrom('audit_ends').select('last_seq').execute()).toEqual([
    { last_seq: 20 },
  ]);
});

describe('connection problems', () => {
  const wrong: readonly [string, (url: string) => string, object][] = [
    ['connection refused', (url) => url.replace(/:\d+\//, ':1/'), { code: 'STORE_AWAY' }],
    ['unknown database', (url) => url.replace('/postgres?', '/other?'), { details: { reason: 'refused' } }],
    ['unknown user', (url) => url.replace('tester', 'stranger'), { details: { reason: 'refused' } }],
  ];
  test.each(wrong)('postgres: reports %s without the password', async (_which, change, expected) => {
    const server = await cluster.newSchema();
    const url = change(server.url).replace('@', ':sesame@');
    const error = await trouble(openDatabase({ stateDir: '/nowhere', server: { ...server, url } }));
    expect(error).toMatchObject(expected);
    expect(JSON.stringify([error.message, error.details, String(error.cause), error.stack])).not.toContain(
      'sesame',
    );
  });

  test('postgres: cancels a statement after its timeout and reuses the connection', async () => {
    const server = { ...(await cluster.newSchema()), statementTimeoutMs: 300, poolSize: 1 };
    const { query } = await open(server);
    expect(await trouble(sql`select pg_sleep(10)`.execute(query))).toMatchObject({
      details: { reason: 'busy' },
    });
    expect((await sql`select 1 as one`.execute(query)).rows).toEqual([{ one: 1 }]);
  });

  test('postgres: rejects a transaction with STORE_LOCKED when another one holds the lock too long', async () => {
    const server = await cluster.newSchema();
    const holder = await open(server);
    const other = await openDatabase({ stateDir: '/nowhere', server, lockTimeoutMs: 100 });
    onTestFinished(() => other[Symbol.asyncDispose]());
    await holder.query.transaction().execute(async () => {
      const begun = other.query.transaction().execute(() => Promise.resolve());
      expect(await trouble(begun)).toMatchObject({ code: 'STORE_LOCKED', details: { reason: 'busy' } });
    });
    await other.query.transaction().execute(() => Promise.resolve());
  });

  test('postgres: fails with STORE_AWAY when the server accepts connections but stays silent', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const url = `postgres://me@127.0.0.1:${port}/x`;
    const server = { url, poolSize: 1, connectTimeoutMs: 200, statementTimeoutMs: 1000 };
    expect(await trouble(openDatabase({ stateDir: '/nowhere', server }))).toMatchObject({
      code: 'STORE_AWAY',
    });
  });

  test(
    'postgres: drops a connection that stalls, and close does not wait for it',
    { tags: ['slow'] },
    async () => {
      const { proxy, server } = await throughProxy({
        ...(await cluster.newSchema()),
        statementTimeoutMs: 200,
      });
      const database = await openDatabase({ stateDir: '/nowhere', server });
      database.changes.on('keys', () => {});
      await sql`select 1`.execute(database.query);
      proxy.stall();
      expect(await trouble(sql`select 1`.execute(database.query))).toMatchObject({ code: 'STORE_AWAY' });
      expect((await sql`select 1 as one`.execute(database.query)).rows).toEqual([{ one: 1 }]);
      proxy.stall();
      await database[Symbol.asyncDispose]();
    },
  );

  test('postgres: reconnects for the next statement after the connection was cut', async () => {
    const { proxy, server } = await throughProxy(await cluster.newSchema());
    const { query } = await open(server);
    const sleeping = trouble(sql`select pg_sleep(5)`.execute(query));
    await eventually(async () => {
      const { rows } = await sql`select 1 from pg_stat_activity where query = 'select pg_sleep(5)'`.execute(
        query,
      );
      expect(rows).not.toEqual([]);
    });
    proxy.cut();
    expect(await sleeping).toMatchObject({ code: 'STORE_AWAY' });
    await eventually(async () =>
      expect((await sql`select 1 as one`.execute(query)).rows).toEqual([{ one: 1 }]),
    );
  });
});

describe('lease', () => {
  const options = { name: 'it', forMs: 10_000, pid: 1, now: Date.now, signal: new AbortController().signal };

  test('postgres lease: ends with the connection, and its holder is notified', async () => {
    const place = await cluster.newSchema();
    const { proxy, server } = await throughProxy(place);
    const [holder, other] = [await open(server), await open(place)];
    let isHeld = false;
    const held = withLease({ ...options, database: holder }, (lost) => {
      isHeld = true;
      return new Promise<string>((resolve) => lost.addEventListener('abort', () => resolve('lost')));
    });
    await eventually(() => expect(isHeld).toBe(true));
    const next = withLease({ ...options, database: other }, () => Promise.resolve('mine'));
    proxy.cut();
    expect(await held).toBe('lost');
    expect(await next).toBe('mine');
  });

  test('postgres lease: does not block a lease of another name', async () => {
    const database = await open(await cluster.newSchema());
    const inner = withLease({ ...options, database }, () =>
      withLease({ ...options, name: 'other', database }, () => Promise.resolve('both')),
    );
    expect(await inner).toBe('both');
  });
});
