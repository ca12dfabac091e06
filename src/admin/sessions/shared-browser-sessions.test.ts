import { describe, expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { openDatabase } from '../../storage/database.ts';
import { storeError } from '../../storage/store-error.ts';
import { SharedBrowserSessions } from './shared-browser-sessions.ts';

const DAY = 24 * 60 * 60_000;

eachEngine((_engine, newStore) => {
  const opened = async () => {
    const database = await openDatabase(await newStore(temporaryFolder('browsers')));
    onTestFinished(() => database[Symbol.asyncDispose]());
    const world = { isAway: false, now: 1_800_000_000_000 };
    const problems: unknown[] = [];
    /** One that hears of changes only when it is told. */
    const gateway = () => {
      let tell = (): void => {};
      const sessions = new SharedBrowserSessions({
        database: () => (world.isAway ? Promise.reject(storeError('away', {})) : Promise.resolve(database)),
        follow: (listener) => (tell = listener),
        now: () => world.now,
        onProblem: (error) => problems.push(error),
      });
      return { sessions, tell: () => tell() };
    };
    return { database, world, problems, gateway };
  };

  describe('browsers of several gateways', () => {
    test('a link that one made lets one browser in, once, at whichever gateway', async () => {
      const { gateway, database } = await opened();
      const [one, other, third] = [gateway(), gateway(), gateway()];
      const { text } = await one.sessions.ticket();
      const entered = await Promise.all([other, third, one].map(({ sessions }) => sessions.enter(text)));
      const [session, ...more] = entered.filter((each) => each !== undefined);
      expect(more).toEqual([]);
      for (const { sessions } of [one, other, third])
        expect(await sessions.find(session?.token ?? '')).toMatchObject({ id: session?.id });
      const late = await one.sessions.ticket();
      await database.query.updateTable('browser_tickets').set({ expires_at: 1 }).execute();
      expect(await other.sessions.enter(late.text)).toBeUndefined();
      expect(await other.sessions.enter('')).toBeUndefined();
    });

    test('neither token nor ticket is in the database', async () => {
      const { gateway, database } = await opened();
      const { sessions } = gateway();
      const { token } = await sessions.open();
      const { text } = await sessions.ticket();
      const rows = JSON.stringify([
        await database.query.selectFrom('browser_sessions').selectAll().execute(),
        await database.query.selectFrom('browser_tickets').selectAll().execute(),
      ]);
      expect(rows).toContain('hash');
      expect(rows.includes(token) || rows.includes(text)).toBe(false);
    });

    test('who signs out at one is signed out at all that were told', async () => {
      const { gateway } = await opened();
      const [one, other] = [gateway(), gateway()];
      const { token, id } = await one.sessions.open();
      expect(await other.sessions.find(token)).toBeDefined();
      await one.sessions.close(id);
      expect(await one.sessions.find(token)).toBeUndefined();
      other.tell();
      await expect.poll(() => other.sessions.has(id)).toBe(false);
      expect(await other.sessions.find(token)).toBeUndefined();
    });

    test('a use that one saw keeps the session alive at the others, for thirty days at most', async () => {
      const { gateway, world } = await opened();
      const [one, other] = [gateway(), gateway()];
      const { token } = await one.sessions.open();
      await other.sessions.find(token);
      for (let half = 1; half < 60; half++) {
        world.now += DAY / 2;
        expect(await one.sessions.find(token), `after ${half / 2} days`).toBeDefined();
        await one.sessions.saved();
      }
      // It was last used there at the beginning.
      expect(await other.sessions.find(token)).toBeDefined();
      world.now += DAY / 2;
      for (const { sessions } of [one, other]) expect(await sessions.find(token)).toBeUndefined();
      const unused = await one.sessions.open();
      world.now += DAY;
      expect(await one.sessions.isAny).toBe(false);
      expect(await other.sessions.find(unused.token)).toBeUndefined();
    });

    test('while the database is away who is known stays in, and nobody else is judged', async () => {
      const { gateway, world, problems } = await opened();
      const [one, other] = [gateway(), gateway()];
      const { token, id } = await one.sessions.open();
      expect(await other.sessions.find(token)).toBeDefined();
      world.isAway = true;
      world.now += DAY / 2;
      expect(await other.sessions.find(token)).toMatchObject({ id });
      await other.sessions.saved();
      expect(problems).toHaveLength(1);
      const away = { code: 'STORE_AWAY' };
      await expect(other.sessions.find('unknown')).rejects.toMatchObject(away);
      await expect(other.sessions.close(id)).rejects.toMatchObject(away);
      await expect(other.sessions.ticket()).rejects.toMatchObject(away);
      world.isAway = false;
      expect(await other.sessions.find('unknown')).toBeUndefined();
    });

    test('of too many sessions the one that was used longest ago ends, and of too many links the oldest', async () => {
      const { gateway, world, database } = await opened();
      const [one, other] = [gateway().sessions, gateway().sessions];
      const all = [];
      for (let at = 0; at < 33; at++) {
        world.now += 1;
        all.push(await (at % 2 === 0 ? one : other).open());
      }
      const found = await Promise.all(all.map(({ token }) => one.find(token)));
      expect(found.map((each) => each !== undefined)).toEqual(all.map((_, at) => at > 0));
      const first = await one.ticket();
      await database.query
        .updateTable('browser_tickets')
        .set((row) => ({ expires_at: row('expires_at', '-', 1000) }))
        .execute();
      for (let at = 0; at < 32; at++) await other.ticket();
      expect(await one.enter(first.text)).toBeUndefined();
    });
  });
});
