import { expect, test } from 'vitest';

import { eachEngine } from '../../test/support/each-engine.ts';

import { temporaryFolder } from '../../test/support/test-run.ts';
import { openDatabase } from './database.ts';
import { withLease } from './lease.ts';

const signal = new AbortController().signal;

eachEngine((engine, newStore) => {
  test('work under one name is done one after the other, across connections', async () => {
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

  test('it is given back when the work fails', async () => {
    await using database = await openDatabase(await newStore(temporaryFolder('lease')));
    const options = { database, name: 'it', forMs: 10_000, pid: process.pid, now: Date.now, signal };
    await expect(withLease(options, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(withLease(options, () => Promise.resolve('yes'))).resolves.toBe('yes');
  });

  test.runIf(engine === 'sqlite').each([
    ['has ended', { isAlive: () => false }, 10_000],
    ['holds it for too long', { isAlive: () => true }, 1],
  ])('the lease of a process that %s is taken over', async (_which, how, forMs) => {
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

  test('whoever waits can stop waiting', async () => {
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
