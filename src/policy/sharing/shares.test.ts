import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import { silentLogger } from '../../observe/log.ts';
import { openDatabase } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { storeError } from '../../storage/store-error.ts';
import type { StorePlace } from '../../storage/store-place.ts';
import { Shares } from './shares.ts';

eachEngine((_engine, newStore) => {
  const opened = async (place: StorePlace): Promise<Database> => {
    const database = await openDatabase(place);
    onTestFinished(() => database[Symbol.asyncDispose]());
    return database;
  };
  const sharesOf = (
    replica: string,
    database: () => Promise<Database>,
    { leaseMs = 30_000 } = {},
  ): Shares => {
    const options = { database, replica, leaseMs, everyMs: 20, now: Date.now, log: silentLogger };
    return new Shares(options);
  };

  test('three gateways never have more under way than the limit, and all that waits gets its turn', async () => {
    const place = await newStore(temporaryFolder('shares'));
    const databases = await Promise.all([opened(place), opened(place), opened(place)]);
    const all = databases.map((database, at) => sharesOf(`r${at}`, () => Promise.resolve(database)));
    let [running, most, done] = [0, 0, 0];
    const work = async (shares: Shares): Promise<void> => {
      const { slots } = shares.places('server s', 2, 100);
      if (!slots.tryEnter()) {
        shares.isShort();
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

  test('three gateways together make no more calls in a time than the rate allows', async () => {
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
          rate.ask();
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

  test('the share of one that died goes to the others when its lease is over', async () => {
    const place = await newStore(temporaryFolder('shares'));
    const database = await opened(place);
    const died = sharesOf('died', () => Promise.resolve(database), { leaseMs: 300 });
    const { slots } = died.places('server s', 3, 10);
    await slots.enter(new Cancellation());
    await eventually(() => expect(died.places('server s', 3, 10).share).toBeGreaterThan(0));
    await died[Symbol.asyncDispose]();
    await database.query
      .insertInto('shares')
      .values({ name: 'places server s', replica: 'died', share: 3, wanted: 3, until: Date.now() + 300 })
      .execute();
    await using heir = sharesOf('heir', () => Promise.resolve(database));
    const places = heir.places('server s', 3, 10);
    await eventually(() => expect(places.share).toBe(3));
  });

  test('while the database is away everybody goes on with what they have', async () => {
    const place = await newStore(temporaryFolder('shares'));
    const database = await opened(place);
    let isAway = false;
    const get = () => (isAway ? Promise.reject(storeError('away', {})) : Promise.resolve(database));
    await using shares = sharesOf('one', get);
    const places = shares.places('server s', 2, 10);
    await eventually(() => expect(places.share).toBe(2));
    isAway = true;
    shares.isShort();
    for (let at = 0; at < 3; at++) {
      expect(places.slots.tryEnter()).toBe(true);
      places.slots.leave();
    }
    expect(places.share).toBe(2);
    isAway = false;
  });
});
