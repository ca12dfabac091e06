import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../../test/support/each-engine.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../../test/support/test-run.ts';
import { silentLogger } from '../../../observe/log.ts';
import { openDatabase } from '../../../storage/database.ts';
import type { StorePlace } from '../../../storage/store-place.ts';
import { Clients } from './clients.ts';
import { Grants } from './grants.ts';
import { RecognisedTokens } from './recognised-tokens.ts';
import { openSteps } from './steps.ts';

const config = {
  ...{ accessTokenMs: 1000, refreshTokenMs: 10_000, registration: true, maxClients: 2 },
  ...{ metadataDocuments: false, allowPrivate: false },
};

eachEngine((_engine, newStore) => {
  const openedAt = async (place: StorePlace, clock = { now: 1000 }) => {
    const database = await openDatabase({ ...place, lookEveryMs: 20 });
    onTestFinished(() => database[Symbol.asyncDispose]());
    let asked = 0;
    const get = () => Promise.resolve(database);
    const now = () => clock.now;
    const recognised = await RecognisedTokens.open({ database: get, now, log: silentLogger });
    onTestFinished(() => recognised[Symbol.asyncDispose]());
    const counted = () => {
      asked++;
      return get();
    };
    const deps = { config, database: counted, now, recognised };
    const fetchDocument = () => Promise.reject(new Error('Nobody fetches.'));
    const clients = new Clients({ ...deps, fetchDocument });
    return { clock, clients, grants: new Grants(deps), asked: () => asked, database: get };
  };
  const opened = async () => openedAt(await newStore(temporaryFolder('clients')));
  const asked = { redirect_uris: ['http://127.0.0.1/cb'], client_name: 'It' };

  test('a client that somebody agreed to outlives those that only registered', async () => {
    const { clients, clock } = await opened();
    const register = async (): Promise<string> => {
      clock.now++;
      const made = await clients.register(asked);
      return typeof made === 'object' ? made.id : `not registered: ${made}`;
    };
    const agreed = await register();
    await clients.noteConsent(agreed);
    const first = await register();
    const second = await register();
    expect(await clients.find(agreed)).toMatchObject({ id: agreed });
    expect(await clients.find(first)).toBe('There is no such client.');
    expect(await clients.find(second)).toMatchObject({ id: second });
  });

  test('a refresh token is good once, and its second use ends the family', async () => {
    const { grants } = await opened();
    const { tokens } = await grants.add({ client: 'c', key: 'k', resource: '' });
    expect(await grants.ofAccess(tokens.access)).toMatchObject({ until: 2000 });
    const next = await grants.refresh(tokens.refresh, 'c');
    expect(next).toMatchObject({ expiresInSeconds: 1 });
    expect(await grants.refresh(tokens.refresh, 'c')).toHaveProperty('reused');
    expect(await grants.ofAccess(tokens.access)).toBeUndefined();
  });

  test('a token that was recognised once is recognised again without the database, until it is over', async () => {
    const { grants, asked, clock } = await opened();
    const { tokens } = await grants.add({ client: 'c', key: 'k', resource: '/mcp' });
    expect(await grants.ofAccess(tokens.access)).toMatchObject({ grant: { key: 'k', resource: '/mcp' } });
    const before = asked();
    expect(grants.ofAccess(tokens.access)).toMatchObject({ until: 2000 });
    expect(asked()).toBe(before);
    const forged = `${tokens.access.slice(0, -1)}${tokens.access.endsWith('A') ? 'B' : 'A'}`;
    expect(await grants.ofAccess(forged)).toBeUndefined();
    clock.now = 2000;
    expect(await grants.ofAccess(tokens.access)).toBeUndefined();
  });

  test('what is revoked at one gateway is forgotten by the other, and nothing else', async () => {
    const place = await newStore(temporaryFolder('clients'));
    const [one, other] = [await openedAt(place), await openedAt(place)];
    const [bad, good] = [
      await one.grants.add({ client: 'c', key: 'k', resource: '' }),
      await one.grants.add({ client: 'c', key: 'k', resource: '' }),
    ];
    for (const { tokens } of [bad, good]) expect(await other.grants.ofAccess(tokens.access)).toBeDefined();
    await one.grants.revoke(bad.tokens.refresh, 'c');
    await eventually(async () => expect(await other.grants.ofAccess(bad.tokens.access)).toBeUndefined());
    expect(other.grants.ofAccess(good.tokens.access)).not.toBeInstanceOf(Promise);
  });

  test('a step of one gateway goes on at the other, and is taken once', async () => {
    const place = await newStore(temporaryFolder('clients'));
    const [one, other] = [await openedAt(place), await openedAt(place)];
    const stepsOf = (database: (typeof one)['database'], now: () => number) =>
      openSteps<{ readonly n: number }>({ kind: 'code', max: 2, now, database });
    const [here, there] = [stepsOf(one.database, () => one.clock.now), stepsOf(other.database, () => 1000)];
    await here.set('a', { n: 1 }, 100);
    expect(await there.get('a')).toEqual({ n: 1 });
    const taken = await Promise.all([here.take('a'), there.take('a'), here.take('a')]);
    expect(taken.filter((each) => each !== undefined)).toEqual([{ n: 1 }]);
    for (const [id, ttl] of [
      ['b', 100],
      ['c', 200],
      ['d', 300],
    ] as const)
      await here.set(id, { n: ttl }, ttl);
    // The oldest made room, and what is over is not given.
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
});
