import { createHash, randomBytes } from 'node:crypto';

import { describe, expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { openDatabase } from '../../core/storage/database.ts';
import { storeError } from '../../core/storage/store-error.ts';
import { SharedBrowserSessions } from './shared-browser-sessions.ts';

const secret = randomBytes(32);
const DAY = 24 * 60 * 60_000;

eachEngine((_engine, newStore) => {
  const createFleet = async () => {
    const database = await openDatabase(await newStore(temporaryFolder('browsers')));
    onTestFinished(() => database[Symbol.asyncDispose]());
    const environment = { isDatabaseAway: false, now: 1_800_000_000_000 };
    const problems: unknown[] = [];
    /** Creates a gateway that learns of changes only through `notify`. */
    const gateway = () => {
      let notify = (): void => {};
      const sessions = new SharedBrowserSessions({
        database: () =>
          environment.isDatabaseAway ? Promise.reject(storeError('away', {})) : Promise.resolve(database),
        follow: (listener) => (notify = listener),
        now: () => environment.now,
        secret: () => Promise.resolve(secret),
        onProblem: (error) => problems.push(error),
      });
      return { sessions, notify: () => notify() };
    };
    return { database, environment, problems, gateway };
  };

  describe('browser sessions of a fleet', () => {
    test('shared dashboard link: opens one session, once, at any replica', async () => {
      const { gateway, database } = await createFleet();
      const [one, other, third] = [gateway(), gateway(), gateway()];
      const { text } = await one.sessions.createTicket();
      const results = await Promise.all(
        [other, third, one].map(({ sessions }) => sessions.redeemTicket(text)),
      );
      const [session, ...more] = results.filter((result) => result !== undefined);
      expect(more).toEqual([]);
      for (const { sessions } of [one, other, third])
        expect(await sessions.find(session?.token ?? '')).toMatchObject({ id: session?.id });
      const late = await one.sessions.createTicket();
      await database.query.updateTable('browser_tickets').set({ expires_at: 1 }).execute();
      expect(await other.sessions.redeemTicket(late.text)).toBeUndefined();
      expect(await other.sessions.redeemTicket('')).toBeUndefined();
    });

    test('shared browser session: stores neither tokens nor tickets in the database', async () => {
      const { gateway, database } = await createFleet();
      const { sessions } = gateway();
      const { token } = await sessions.open();
      const { text } = await sessions.createTicket();
      const rows = JSON.stringify([
        await database.query.selectFrom('browser_sessions').selectAll().execute(),
        await database.query.selectFrom('browser_tickets').selectAll().execute(),
      ]);
      expect(rows).toContain('hash');
      expect(rows.includes(token) || rows.includes(text)).toBe(false);
    });

    test('shared browser session: signs out at every replica', async () => {
      const { gateway } = await createFleet();
      const [one, other] = [gateway(), gateway()];
      const { token, id } = await one.sessions.open();
      expect(await other.sessions.find(token)).toBeDefined();
      await one.sessions.close(id);
      expect(await one.sessions.find(token)).toBeUndefined();
      other.notify();
      await expect.poll(() => other.sessions.has(id)).toBe(false);
      expect(await other.sessions.find(token)).toBeUndefined();
    });

    test('shared browser session: stays alive everywhere when used at one replica, for thirty days at most', async () => {
      const { gateway, environment } = await createFleet();
      const [one, other] = [gateway(), gateway()];
      const { token } = await one.sessions.open();
      await other.sessions.find(token);
      for (let half = 1; half < 60; half++) {
        environment.now += DAY / 2;
        expect(await one.sessions.find(token), `after ${half / 2} days`).toBeDefined();
        await one.sessions.saved();
      }
      // This replica last saw the session used at the beginning.
      expect(await other.sessions.find(token)).toBeDefined();
      environment.now += DAY / 2;
      for (const { sessions } of [one, other]) expect(await sessions.find(token)).toBeUndefined();
      const unused = await one.sessions.open();
      environment.now += DAY;
      expect(await one.sessions.hasAny()).toBe(false);
      expect(await other.sessions.find(unused.token)).toBeUndefined();
    });

    test('shared browser session: accepts only known sessions while the database is unavailable', async () => {
      const { gateway, environment, problems } = await createFleet();
      const [one, other] = [gateway(), gateway()];
      const { token, id } = await one.sessions.open();
      expect(await other.sessions.find(token)).toBeDefined();
      environment.isDatabaseAway = true;
      environment.now += DAY / 2;
      expect(await other.sessions.find(token)).toMatchObject({ id });
      await other.sessions.saved();
      expect(problems).toHaveLength(1);
      const away = { code: 'STORE_AWAY' };
      await expect(other.sessions.find('unknown')).rejects.toMatchObject(away);
      await expect(other.sessions.close(id)).rejects.toMatchObject(away);
      await expect(other.sessions.createTicket()).rejects.toMatchObject(away);
      environment.isDatabaseAway = false;
      expect(await other.sessions.find('unknown')).toBeUndefined();
    });

    test('shared browser session: evicts the least recently used sessions and the oldest links', async () => {
      const { gateway, environment, database } = await createFleet();
      const [one, other] = [gateway().sessions, gateway().sessions];
      const all = [];
      for (let at = 0; at < 33; at++) {
        environment.now += 1;
        all.push(await (at % 2 === 0 ? one : other).open());
      }
      const found = await Promise.all(all.map(({ token }) => one.find(token)));
      expect(found.map((each) => each !== undefined)).toEqual(all.map((_, at) => at > 0));
      const first = await one.createTicket();
      await database.query
        .updateTable('browser_tickets')
        .set((row) => ({ expires_at: row('expires_at', '-', 1000) }))
        .execute();
      for (let at = 0; at < 32; at++) await other.createTicket();
      expect(await one.redeemTicket(first.text)).toBeUndefined();
    });

    test('shared browser session: cannot be forged by writing to the database', async () => {
      const { gateway, database, environment } = await createFleet();
      const { sessions } = gateway();
      const token = randomBytes(32).toString('base64url');
      for (const encoding of ['base64url', 'hex'] as const) {
        const hash = createHash('sha256').update(token).digest(encoding);
        const { now } = environment;
        await database.query
          .insertInto('browser_sessions')
          .values({ hash, created_at: now, used_at: now })
          .execute();
        await database.query
          .insertInto('browser_tickets')
          .values({ hash, expires_at: Number.MAX_SAFE_INTEGER })
          .execute();
      }
      expect(await sessions.find(token)).toBeUndefined();
      expect(await sessions.redeemTicket(token)).toBeUndefined();
      const opened = await sessions.open();
      expect(await sessions.find(opened.token)).toMatchObject({ id: opened.id });
    });
  });
});
