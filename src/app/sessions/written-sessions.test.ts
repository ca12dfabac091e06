import { randomBytes } from 'node:crypto';

import { expect, onTestFinished, test, vi } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import type { SessionNews } from '../../downstream/sessions/kept-session.ts';
import { SESSION_MS } from '../../downstream/sessions/sealed-ids.ts';
import { openDatabase } from '../../storage/database.ts';
import { streamPlaces } from './stream-places.ts';
import { WrittenSessions } from './written-sessions.ts';

const LATER = 10_000_000;

eachEngine((_engine, newStore) => {
  const opened = async () => {
    const place = await newStore(temporaryFolder('sessions'));
    const clock = { now: 1000 };
    const secret = randomBytes(32);
    const open = async () => {
      const database = await openDatabase({ ...place, lookEveryMs: 20 });
      onTestFinished(() => database[Symbol.asyncDispose]());
      const sessions = new WrittenSessions({
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

  test('of a session in which nothing was set there is nothing', async () => {
    const { one } = await opened();
    expect(await one.sessions.read(session)).toBeUndefined();
  });

  test('what a client follows is in no row as it was said, and not readable in the row of another session', async () => {
    const { one } = await opened();
    const uri = 'https://example.com/?token=hidden';
    await one.sessions.change('s', { follow: uri }, LATER);
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

  test('what is set through several at the same time adds up, and is told to all', async () => {
    const { one, other } = await opened();
    const news: SessionNews[] = [];
    other.sessions.follow((told) => news.push(...told));
    await vi.waitFor(async () => {
      // Until it follows, there is no telling what is news.
      await one.sessions.change('first', { level: 'info' }, LATER);
      await one.sessions.change('first', { level: 'debug' }, LATER);
      expect(news.length).toBeGreaterThan(0);
    });
    const uris = Array.from({ length: 10 }, (_, n) => `file:///${n}`);
    const through = (n: number): WrittenSessions => (n % 2 === 0 ? one : other).sessions;
    await Promise.all(uris.map((uri, n) => through(n).change('s', { follow: uri }, LATER)));
    await one.sessions.change('s', { level: 'error' }, LATER);
    await other.sessions.change('s', { reveal: ['a__b'] }, LATER);
    const state = await one.sessions.read(session);
    if (state === undefined || state === 'ended') throw new Error('It is gone.');
    expect(state).toMatchObject({ level: 'error', revealed: ['a__b'] });
    expect(state.follows.toSorted()).toEqual(uris);
    await vi.waitFor(() => expect(news.at(-1)).toEqual({ id: 's', state }));
  });

  test('what is over stays over, whatever somebody sets afterwards', async () => {
    const { one, other } = await opened();
    await one.sessions.change('s', { level: 'error' }, LATER);
    await other.sessions.end('s', LATER);
    await one.sessions.change('s', { level: 'info' }, LATER);
    expect(await one.sessions.read(session)).toBe('ended');
  });

  test('all sessions that a caller has opened end, and none that it opens afterwards or others have', async () => {
    const { one, other, clock } = await opened();
    clock.now = 2000;
    await one.sessions.endOf('anna', LATER);
    clock.now = 2500;
    await other.sessions.endOf('anna', LATER);
    expect(await other.sessions.read({ ...session, issuedAt: 2000 })).toBe('ended');
    expect(await other.sessions.read({ ...session, issuedAt: 2001 })).toBeUndefined();
    expect(await other.sessions.read({ ...session, caller: 'bert' })).toBeUndefined();
  });

  test('rows go when their sessions are over anyway', async () => {
    const { one, clock } = await opened();
    const places = streamPlaces({
      ...{ self: 'aaaaaaaa', database: () => Promise.resolve(one.database), now: () => clock.now },
    });
    await places.note('old');
    await one.sessions.end('s', 5000);
    clock.now = SESSION_MS + LATER;
    await places.note('new');
    await one.sessions.end('t', clock.now + 1000);
    expect(await one.count()).toBe(1);
    expect([await places.find('old'), await places.find('new')]).toEqual([undefined, 'aaaaaaaa']);
  });

  test('who holds a stream is written down, and taken away by nobody else', async () => {
    const { one, other } = await opened();
    const [here, there] = [one, other].map(({ database }, at) =>
      streamPlaces({
        ...{ self: `${at}aaaaaaa`, database: () => Promise.resolve(database), now: () => 1000 },
      }),
    );
    await here?.note('s');
    await there?.note('s');
    await here?.forget('s');
    expect(await here?.find('s')).toBe('1aaaaaaa');
    await there?.forget('s');
    expect(await here?.find('s')).toBeUndefined();
  });
});
