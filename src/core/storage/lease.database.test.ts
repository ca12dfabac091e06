import { sql } from 'kysely';
import { expect, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';

import { eventually } from '../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { openDatabase } from './database.ts';
import { withLease } from './lease.ts';

const signal = new AbortController().signal;

eachEngine((engine, newStore) => {
  test('lease: runs work under one name one at a time across connections', async () => {
    const place = await newStore(temporaryFolder('lease'));
    await using first = await openDatabase(place);
    await using second = await openDatabase(place);
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside++;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
    };
    const common = { name: 'it', forMs: 10_000, pid: process.pid, now: Date.now, signal };
    await Promise.all(
      [first, second, first, second].map((database) => withLease({ ...common, database }, work)),
    );
    expect(most).toBe(1);
    expect(await first.query.selectFrom('leases').selectAll().execute()).toEqual([]);
  });

  test('lease: is released when the work fails', async () => {
    await using database = await openDatabase(await newStore(temporaryFolder('lease')));
    const options = { database, name: 'it', forMs: 10_000, pid: process.pid, now: Date.now, signal };
    await expect(withLease(options, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(withLease(options, () => Promise.resolve('yes'))).resolves.toBe('yes');
  });

  test.runIf(engine === 'sqlite')(
    'lease: does not fail the work when its release fails, and the next work starts at once',
    async () => {
      await using database = await openDatabase(await newStore(temporaryFolder('lease')));
      const { query } = database;
      await sql`CREATE TRIGGER full BEFORE DELETE ON leases BEGIN SELECT RAISE(FAIL, 'full'); END`.execute(
        query,
      );
      const options = { database, name: 'it', forMs: 10_000, pid: process.pid, now: Date.now, signal };
      await expect(withLease(options, () => Promise.resolve('done'))).resolves.toBe('done');
      expect(await query.selectFrom('leases').selectAll().execute()).toHaveLength(1);
      await sql`DROP TRIGGER full`.execute(query);
      const next = withLease({ ...options, signal: AbortSignal.timeout(2000) }, () =>
        Promise.resolve('next'),
      );
      await expect(next).resolves.toBe('next');
    },
  );

  test.runIf(engine === 'sqlite').each([
    ['has exited', { isAlive: () => false }, 10_000],
    ['holds it for too long', { isAlive: () => true }, 1],
  ])('lease: is taken over from a process that %s', async (_which, how, forMs) => {
    await using database = await openDatabase(await newStore(temporaryFolder('lease')));
    const options = { database, name: 'it', pid: 1, now: Date.now, signal, ...how };
    let release = (): void => {};
    const held = withLease({ ...options, forMs }, () => new Promise<void>((resolve) => (release = resolve)));
    await expect(withLease({ ...options, forMs: 10_000 }, () => Promise.resolve('mine'))).resolves.toBe(
      'mine',
    );
    release();
    await held;
  });

  test.runIf(engine === 'sqlite').each([-30, 30])(
    'lease: neither ends nor lasts longer when the clock is set by %i days',
    async (days) => {
      await using database = await openDatabase(await newStore(temporaryFolder('lease')));
      const begin = Date.now();
      let [wall, steady] = [begin, 1_000_000];
      const clocks = { now: () => wall, monotonicNow: () => steady };
      const options = { database, name: 'it', pid: process.pid, signal, ...clocks, forMs: 1000, pauseMs: 1 };
      let release = (): void => {};
      let inside = 0;
      const held = withLease(options, async () => {
        inside++;
        await new Promise<void>((resolve) => (release = resolve));
        inside--;
      });
      await eventually(() => inside === 1);
      wall = begin + days * 86_400_000;
      const waiting = new AbortController();
      const second = withLease({ ...options, signal: waiting.signal }, async () => inside);
      await new Promise((resolve) => setTimeout(resolve, 30));
      waiting.abort(new Error('It waits.'));
      await expect(second).rejects.toThrow();
      // The lease has expired, although the wall clock says otherwise.
      steady += 1001;
      await expect(withLease(options, async () => 'mine')).resolves.toBe('mine');
      release();
      await held;
    },
  );

  test('lease: lets a waiting caller abort', async () => {
    await using database = await openDatabase(await newStore(temporaryFolder('lease')));
    const stopping = new AbortController();
    const options = { database, name: 'it', forMs: 10_000, pid: process.pid, now: Date.now };
    let release = (): void => {};
    let held: Promise<void> | undefined;
    await new Promise<void>((begun) => {
      held = withLease({ ...options, signal }, () => {
        begun();
        return new Promise<void>((resolve) => (release = resolve));
      });
    });
    const waiting = withLease({ ...options, signal: stopping.signal }, () => Promise.resolve('never'));
    setTimeout(() => stopping.abort(new Error('enough')), 20);
    await expect(waiting).rejects.toThrow();
    release();
    await held;
  });
});
