import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { silentLogger } from '../../observability/log.ts';
import { openDatabase } from '../../core/storage/database.ts';
import type { Database } from '../../core/storage/database.ts';
import { storeError } from '../../core/storage/store-error.ts';
import type { StoreLocation } from '../../core/storage/store-location.ts';
import { FleetShares, SharedConcurrency } from './fleet-shares.ts';
import { updateShares } from './share-store.ts';

eachEngine((_engine, newStore) => {
  const opened = async (place: StoreLocation): Promise<Database> => {
    const database = await openDatabase(place);
    onTestFinished(() => database[Symbol.asyncDispose]());
    return database;
  };
  const sharesOf = (
    replica: string,
    database: () => Promise<Database>,
    { leaseMs = 30_000 } = {},
  ): FleetShares => {
    const options = { database, replica, leaseMs, everyMs: 20, now: Date.now, log: silentLogger };
    return new FleetShares(options);
  };

  test('fleet concurrency: stays within the limit across three gateways and finishes all calls', async () => {
    const place = await newStore(temporaryFolder('shares'));
    const databases = await Promise.all([opened(place), opened(place), opened(place)]);
    const all = databases.map((database, at) => sharesOf(`r${at}`, () => Promise.resolve(database)));
    let [running, most, done] = [0, 0, 0];
    const work = async (shares: FleetShares): Promise<void> => {
      const { slots } = shares.concurrency('server s', 2, 100);
      if (!slots.tryEnter()) {
        shares.requestMore();
        await slots.enter(new Cancellation());
      }
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      done++;
      slots.leave();
    };
    await Promise.all(all.flatMap((shares) => Array.from({ length: 8 }, () => work(shares))));
    expect({ most, done }).toEqual({ most: 2, done: 24 });
    for (const shares of all) await shares[Symbol.asyncDispose]();
    const left = await databases[0].query.selectFrom('shares').selectAll().execute();
    expect(left).toEqual([]);
  }, 30_000);

  test('fleet rate: is not exceeded by three gateways together', async () => {
    const place = await newStore(temporaryFolder('shares'));
    const databases = await Promise.all([opened(place), opened(place), opened(place)]);
    const all = databases.map((database, at) => sharesOf(`r${at}`, () => Promise.resolve(database)));
    const perMinute = 1200;
    const rates = all.map((shares) => shares.rate('server s', perMinute));
    const begin = Date.now();
    let made = 0;
    await eventually(
      () => {
        for (const rate of rates) {
          rate.recordDemand();
          while (rate.peek() === 0) {
            rate.take();
            made++;
          }
        }
        return made > 60;
      },
      { withinMs: 20_000 },
    );
    const [burst, each] = [perMinute / 10, 1];
    const elapsed = Date.now() - begin + each;
    expect(made).toBeLessThanOrEqual((perMinute * elapsed) / 60_000 + burst + all.length);
    for (const shares of all) await shares[Symbol.asyncDispose]();
  }, 30_000);

  test('fleet share: passes from a dead gateway to the others when its lease expires', async () => {
    const place = await newStore(temporaryFolder('shares'));
    const database = await opened(place);
    const died = sharesOf('died', () => Promise.resolve(database), { leaseMs: 300 });
    const { slots } = died.concurrency('server s', 3, 10);
    await slots.enter(new Cancellation());
    await eventually(() => expect(died.concurrency('server s', 3, 10).share).toBeGreaterThan(0));
    await died[Symbol.asyncDispose]();
    await database.query
      .insertInto('shares')
      .values({ name: 'places server s', replica: 'died', share: 3, wanted: 3, until: Date.now() + 300 })
      .execute();
    await using heir = sharesOf('heir', () => Promise.resolve(database));
    const places = heir.concurrency('server s', 3, 10);
    await eventually(() => expect(places.share).toBe(3));
  });

  test('fleet share: reports the demand that it was allocated for to the other gateways', async () => {
    const database = await opened(await newStore(temporaryFolder('shares')));
    const shared = new SharedConcurrency('places server s', 10, Date.now);
    shared.limit = 4;
    shared.applyShare(3);
    // These calls end before the update, so only the peak shows their demand: three slots, and one more for the last read of `slots`.
    const entered = [1, 2, 3].map(() => shared.slots.tryEnter());
    expect(entered).toEqual([true, true, true]);
    const { slots } = shared;
    for (const _ of entered) slots.leave();
    shared.applyShare(0);
    await updateShares({ database, replica: 'one', leaseMs: 30_000 }, [shared]);
    const stored = await database.query.selectFrom('shares').select(['share', 'wanted']).execute();
    expect(stored).toEqual([{ share: 4, wanted: 4 }]);
  });

  test('fleet share: is kept while refreshing it fails, since the database is unreachable', async () => {
    const place = await newStore(temporaryFolder('shares'));
    const database = await opened(place);
    let [isAway, failures] = [false, 0];
    const get = () => {
      if (!isAway) return Promise.resolve(database);
      failures++;
      return Promise.reject(storeError('away', {}));
    };
    await using shares = sharesOf('one', get);
    const places = shares.concurrency('server s', 2, 10);
    await eventually(() => expect(places.share).toBe(2));
    isAway = true;
    // Each attempt starts only after the previous one has failed, so at least two have failed completely.
    await eventually(() => failures >= 3);
    expect(places.share).toBe(2);
    const entered = [1, 2, 3].map(() => places.slots.tryEnter());
    expect(entered).toEqual([true, true, false]);
    for (const _ of [1, 2]) places.slots.leave();
    isAway = false;
  });
});
