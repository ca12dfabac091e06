import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../../test/support/each-engine.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../../test/support/test-run.ts';
import { silentLogger } from '../../../observability/log.ts';
import { openDatabase } from '../../../core/storage/database.ts';
import type { StoreLocation } from '../../../core/storage/store-location.ts';
import { ClientRegistry } from './client-registry.ts';
import { GrantStore } from './grant-store.ts';
import { AccessTokenCache } from './access-token-cache.ts';
import { openFlowStateStore } from './flow-state-store.ts';

const config = {
  accessTokenMs: 1000,
  refreshTokenMs: 10_000,
  registration: true,
  maxClients: 2,
  metadataDocuments: false,
  allowPrivate: false,
};

eachEngine((_engine, newStore) => {
  const openedAt = async (place: StoreLocation, clock = { now: 1000 }) => {
    const database = await openDatabase({ ...place, pollIntervalMs: 20 });
    onTestFinished(() => database[Symbol.asyncDispose]());
    let queries = 0;
    const get = () => Promise.resolve(database);
    const now = () => clock.now;
    const accessTokens = await AccessTokenCache.open({ database: get, now, log: silentLogger });
    onTestFinished(() => accessTokens[Symbol.asyncDispose]());
    const counted = () => {
      queries++;
      return get();
    };
    const deps = { config, database: counted, now, accessTokens };
    const fetchDocument = () => Promise.reject(new Error('Nothing is fetched.'));
    const clients = new ClientRegistry({ ...deps, fetchDocument });
    return { clock, clients, grants: new GrantStore(deps), queries: () => queries, database: get };
  };
  const opened = async () => openedAt(await newStore(temporaryFolder('clients')));
  const metadata = { redirect_uris: ['http://127.0.0.1/cb'], client_name: 'It' };

  test('registered client: outlives clients without consent when the limit is reached', async () => {
    const { clients, clock } = await opened();
    const register = async (): Promise<string> => {
      clock.now++;
      const made = await clients.register(metadata);
      return made !== undefined && 'id' in made ? made.id : 'not registered';
    };
    const agreed = await register();
    await clients.recordConsent(agreed);
    const first = await register();
    const second = await register();
    expect(await clients.find(agreed)).toMatchObject({ id: agreed });
    expect(await clients.find(first)).toBe('There is no such client.');
    expect(await clients.find(second)).toMatchObject({ id: second });
  });

  test('refresh token: works once, and reuse revokes the whole token family', async () => {
    const { grants } = await opened();
    const { tokens } = await grants.add({ client: 'c', key: 'k', resource: '' });
    expect(await grants.verifyAccessToken(tokens.access)).toMatchObject({ expiresAt: 2000 });
    const next = await grants.refresh(tokens.refresh, 'c');
    expect(next).toMatchObject({ expiresInSeconds: 1 });
    expect(await grants.refresh(tokens.refresh, 'c')).toHaveProperty('reused');
    expect(await grants.verifyAccessToken(tokens.access)).toBeUndefined();
  });

  test('access token: is verified from memory after the first use until it expires', async () => {
    const { grants, queries, clock } = await opened();
    const { tokens } = await grants.add({ client: 'c', key: 'k', resource: '/mcp' });
    expect(await grants.verifyAccessToken(tokens.access)).toMatchObject({
      grant: { key: 'k', resource: '/mcp' },
    });
    const before = queries();
    expect(grants.verifyAccessToken(tokens.access)).toMatchObject({ expiresAt: 2000 });
    expect(queries()).toBe(before);
    const forged = `${tokens.access.slice(0, -1)}${tokens.access.endsWith('A') ? 'B' : 'A'}`;
    expect(await grants.verifyAccessToken(forged)).toBeUndefined();
    clock.now = 2000;
    expect(await grants.verifyAccessToken(tokens.access)).toBeUndefined();
  });

  test('access token: is rejected by every replica after its grant is revoked', async () => {
    const place = await newStore(temporaryFolder('clients'));
    const [one, other] = [await openedAt(place), await openedAt(place)];
    const [bad, good] = [
      await one.grants.add({ client: 'c', key: 'k', resource: '' }),
      await one.grants.add({ client: 'c', key: 'k', resource: '' }),
    ];
    for (const { tokens } of [bad, good])
      expect(await other.grants.verifyAccessToken(tokens.access)).toBeDefined();
    await one.grants.revoke(bad.tokens.refresh, 'c');
    await eventually(async () =>
      expect(await other.grants.verifyAccessToken(bad.tokens.access)).toBeUndefined(),
    );
    expect(other.grants.verifyAccessToken(good.tokens.access)).not.toBeInstanceOf(Promise);
  });

  test('authorization step: continues at another replica, works once, expires and makes room for new ones', async () => {
    const place = await newStore(temporaryFolder('clients'));
    const [one, other] = [await openedAt(place), await openedAt(place)];
    const storeOf = (database: (typeof one)['database'], now: () => number) =>
      openFlowStateStore<{ readonly n: number }>({ kind: 'code', max: 2, now, database });
    const [here, there] = [storeOf(one.database, () => one.clock.now), storeOf(other.database, () => 1000)];
    await here.set('a', { n: 1 }, 100);
    expect(await there.get('a')).toEqual({ n: 1 });
    const taken = await Promise.all([here.take('a'), there.take('a'), here.take('a')]);
    expect(taken.filter((value) => value !== undefined)).toEqual([{ n: 1 }]);
    for (const [id, ttl] of [
      ['b', 100],
      ['c', 200],
      ['d', 300],
    ] as const)
      await here.set(id, { n: ttl }, ttl);
    // The oldest step was evicted, and expired steps are not returned.
    expect([await there.get('b'), await there.get('c'), await there.get('d')]).toEqual([
      undefined,
      { n: 200 },
      { n: 300 },
    ]);
    one.clock.now = 1200;
    expect([await here.get('c'), await here.take('c'), await here.get('d')]).toEqual([
      undefined,
      undefined,
      { n: 300 },
    ]);
  });

  test.each([
    ['no JSON', 'x'],
    ['null', 'null'],
    ['a list', '[]'],
    ['no addresses', '{"name":"It"}'],
    ['a text instead of addresses', '{"name":"It","redirectUris":"https://a.example/cb"}'],
    ['an address that runs a script', '{"name":"It","redirectUris":["javascript:alert(1)"]}'],
    ['an address in another type', '{"name":"It","redirectUris":[{"toString":1}]}'],
    ['prototype members', '{"__proto__":{"redirectUris":["https://a.example/cb"]}}'],
  ])('registered client: does not exist if its row contains %s', async (_what, body) => {
    const { clients, database } = await opened();
    const { query } = await database();
    const row = { id: 'tlc_planted', body, created_at: 1, agreed_at: 1 };
    await query.insertInto('client_registrations').values(row).execute();
    expect(await clients.find('tlc_planted')).toBe('There is no such client.');
    expect(await clients.register(metadata)).toMatchObject({ name: 'It' });
  });

  test('registered client: has the id of its row and a name without control characters', async () => {
    const { clients, database } = await opened();
    const { query } = await database();
    const body = '{"id":"tlc_other","name":"It\\u001b[2J\\nis","redirectUris":["https://a.example/cb"]}';
    const row = { id: 'tlc_planted', body, created_at: 1, agreed_at: null };
    await query.insertInto('client_registrations').values(row).execute();
    expect(await clients.find('tlc_planted')).toEqual({
      id: 'tlc_planted',
      name: 'It [2J is',
      redirectUris: ['https://a.example/cb'],
    });
  });

  test('shared step of an authorization: is absent if its row is not JSON', async () => {
    const { database } = await opened();
    const { query } = await database();
    const store = openFlowStateStore({ kind: 'code', max: 10, now: () => 1000, database });
    for (const [at, body] of ['x', '', '{"n":', '[1', 'null', '5'].entries()) {
      const row = { id: `p${at}`, kind: 'code', body, expires_at: 9000 };
      await query.insertInto('client_steps').values(row).execute();
      expect(await store.get(`p${at}`)).toBeUndefined();
      expect(await store.take(`p${at}`)).toBeUndefined();
    }
    await store.set('c', { n: 3 }, 1000);
    expect(await store.take('c')).toEqual({ n: 3 });
  });
});
