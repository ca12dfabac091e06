import { randomBytes } from 'node:crypto';

import { expect, onTestFinished, test, vi } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import type { SessionUpdate } from './session-store.ts';
import { SESSION_LIFETIME_MS } from './sealed-ids.ts';
import { openDatabase } from '../../core/storage/database.ts';
import { DatabaseSessionStore, DatabaseStreamLocations } from './database-session-store.ts';

const LATER = 10_000_000;

eachEngine((_engine, newStore) => {
  const opened = async () => {
    const place = await newStore(temporaryFolder('sessions'));
    const clock = { now: 1000 };
    const secret = randomBytes(32);
    const open = async () => {
      const database = await openDatabase({ ...place, pollIntervalMs: 20 });
      onTestFinished(() => database[Symbol.asyncDispose]());
      const sessions = new DatabaseSessionStore({
        database: () => Promise.resolve(database),
        isStored: () => true,
        secret: () => Promise.resolve(secret),
        onChange: (listener) => {
          const listening = database.changes.on('sessions', listener);
          onTestFinished(() => listening[Symbol.dispose]());
        },
        now: () => clock.now,
      });
      const count = async (): Promise<number> =>
        (await database.query.selectFrom('sessions').select('id').execute()).length;
      return { sessions, count, database };
    };
    return { clock, one: await open(), other: await open() };
  };
  const session = { id: 's', caller: 'anna', issuedAt: 1000 };

  test('stored session: has no state until the client sets something', async () => {
    const { one } = await opened();
    expect(await one.sessions.read(session)).toBeUndefined();
  });

  test('stored session: encrypts subscriptions and binds them to their session', async () => {
    const { one } = await opened();
    const uri = 'https://example.com/?token=hidden';
    await one.sessions.saveChange('s', { follow: uri }, LATER);
    const { query } = one.database;
    const row = await query.selectFrom('sessions').selectAll().executeTakeFirstOrThrow();
    expect(row.body).not.toContain('hidden');
    await query
      .insertInto('sessions')
      .values({ ...row, id: 't' })
      .execute();
    expect(await one.sessions.read(session)).toMatchObject({ follows: [uri] });
    expect(await one.sessions.read({ ...session, id: 't' })).toMatchObject({ follows: [] });
  });

  test('stored session: merges concurrent changes of several replicas and notifies all of them', async () => {
    const { one, other } = await opened();
    const news: SessionUpdate[] = [];
    other.sessions.onUpdate((told) => news.push(...told));
    await vi.waitFor(async () => {
      // Repeat until the follower is active and receives a change.
      await one.sessions.saveChange('first', { level: 'info' }, LATER);
      await one.sessions.saveChange('first', { level: 'debug' }, LATER);
      expect(news.length).toBeGreaterThan(0);
    });
    const uris = Array.from({ length: 10 }, (_, n) => `file:///${n}`);
    const through = (n: number): DatabaseSessionStore => (n % 2 === 0 ? one : other).sessions;
    await Promise.all(uris.map((uri, n) => through(n).saveChange('s', { follow: uri }, LATER)));
    await one.sessions.saveChange('s', { level: 'error' }, LATER);
    await other.sessions.saveChange('s', { reveal: ['a__b'] }, LATER);
    const state = await one.sessions.read(session);
    if (state === undefined || state === 'ended') throw new Error('It is gone.');
    expect(state).toMatchObject({ level: 'error', revealed: ['a__b'] });
    expect(state.follows.toSorted()).toEqual(uris);
    await vi.waitFor(() => expect(news.at(-1)).toEqual({ id: 's', state }));
  });

  test('stored session: saves many changes in few transactions, in their order', async () => {
    const { one } = await opened();
    const uris = Array.from({ length: 500 }, (_, n) => `file:///${n}`);
    await Promise.all([
      ...uris.map((uri) => one.sessions.saveChange('s', { follow: uri }, LATER)),
      one.sessions.saveChange('s', { unfollow: uris[0]! }, LATER),
    ]);
    expect(await one.sessions.read(session)).toMatchObject({ follows: uris.slice(1) });
    const { revision } = await one.database.query
      .selectFrom('changes')
      .select('revision')
      .where('topic', '=', 'sessions')
      .executeTakeFirstOrThrow();
    expect(Number(revision)).toBe(2);
  });

  test('stored session: stays ended whatever is set afterwards', async () => {
    const { one, other } = await opened();
    await one.sessions.saveChange('s', { level: 'error' }, LATER);
    await other.sessions.markEnded('s', LATER);
    await one.sessions.saveChange('s', { level: 'info' }, LATER);
    expect(await one.sessions.read(session)).toBe('ended');
  });

  test('stored session: ends all sessions a caller has opened so far, and no others', async () => {
    const { one, other, clock } = await opened();
    clock.now = 2000;
    await one.sessions.markCallerEnded('anna', LATER);
    clock.now = 2500;
    await other.sessions.markCallerEnded('anna', LATER);
    expect(await other.sessions.read({ ...session, issuedAt: 2000 })).toBe('ended');
    expect(await other.sessions.read({ ...session, issuedAt: 2001 })).toBeUndefined();
    expect(await other.sessions.read({ ...session, caller: 'bert' })).toBeUndefined();
  });

  test('stored session: deletes expired rows', async () => {
    const { one, clock } = await opened();
    const places = new DatabaseStreamLocations({
      self: 'aaaaaaaa',
      database: () => Promise.resolve(one.database),
      now: () => clock.now,
    });
    await places.record('old');
    await one.sessions.markEnded('s', 5000);
    clock.now = SESSION_LIFETIME_MS + LATER;
    await places.record('new');
    await one.sessions.markEnded('t', clock.now + 1000);
    expect(await one.count()).toBe(1);
    expect([await places.find('old'), await places.find('new')]).toEqual([undefined, 'aaaaaaaa']);
  });

  test('stream location: is recorded for the replica that holds the stream and removed only by that replica', async () => {
    const { one, other } = await opened();
    const [here, there] = [one, other].map(
      ({ database }, at) =>
        new DatabaseStreamLocations({
          self: `${at}aaaaaaa`,
          database: () => Promise.resolve(database),
          now: () => 1e3,
        }),
    );
    await here?.record('s');
    await there?.record('s');
    await here?.remove('s');
    expect(await here?.find('s')).toBe('1aaaaaaa');
    await there?.remove('s');
    expect(await here?.find('s')).toBeUndefined();
  });
});
