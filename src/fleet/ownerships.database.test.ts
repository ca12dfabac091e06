import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../test/support/each-engine.ts';
import { eventually } from '../../test/support/eventually.ts';
import { temporaryFolder } from '../../test/support/test-run.ts';
import { openDatabase } from '../core/storage/database.ts';
import { Ownerships } from './ownerships.ts';

eachEngine((_engine, newStore) => {
  const openReplicas = async (times = { leaseMs: 60_000, surrenderMs: 40_000 }) => {
    const store = await newStore(temporaryFolder('ownerships'));
    const clock = { now: 0 };
    const openReplica = async (self: string) => {
      const database = await openDatabase(store);
      onTestFinished(() => database[Symbol.asyncDispose]());
      const ownerships = new Ownerships({
        self,
        database: () => Promise.resolve(database),
        clock: () => clock.now,
        times,
        onError: (error) => {
          throw error;
        },
      });
      // The clock stands still in this test, so an ownership that is never released would restart its timer forever, also in later test files.
      onTestFinished(() => ownerships.releaseAll());
      return ownerships;
    };
    return { clock, one: await openReplica('one'), other: await openReplica('other') };
  };

  test('ownership claim: succeeds at one of two replicas and names the owner to the other', async () => {
    const { one, other } = await openReplicas();
    const claims = await Promise.all([
      ...[one, one, one].map((replica) => replica.claim('x')),
      ...[other, other].map((replica) => replica.claim('x')),
    ]);
    const [mine, , , theirs] = claims;
    expect([mine?.ownership, theirs?.ownership].filter((ownership) => ownership !== undefined)).toHaveLength(
      1,
    );
    const winner = mine?.ownership === undefined ? 'other' : 'one';
    const loser = mine?.ownership === undefined ? mine : theirs;
    expect(loser).toMatchObject({ owner: winner });
    expect(one.getHeld('x') === undefined).toBe(other.getHeld('x') !== undefined);
    expect((await other.claim('y')).ownership).toBeDefined();
  });

  test('ownership claim: succeeds after the owner released it, with a higher epoch', async () => {
    const { one, other } = await openReplicas();
    const first = (await one.claim('x')).ownership;
    first?.use()[Symbol.dispose]();
    expect(one.getHeld('x')).toBeUndefined();
    // An epoch is a time of the database, in milliseconds.
    await eventually(() => Date.now() > (first?.epoch ?? Infinity) + 1);
    const next = await eventually(async () => (await other.claim('x')).ownership ?? false);
    expect(next.epoch).toBeGreaterThan(first?.epoch ?? Infinity);
    expect(await one.claim('x')).toMatchObject({ owner: 'other' });
  });

  test('ownership claim: succeeds after the lease expired, later than the owner surrenders it', async () => {
    const { clock, one, other } = await openReplicas({ leaseMs: 300, surrenderMs: 100 });
    const first = (await one.claim('x')).ownership;
    clock.now = 100;
    expect(one.getHeld('x')).toBeUndefined();
    expect(await other.claim('x')).toMatchObject({ owner: 'one' });
    const next = await eventually(async () => (await other.claim('x')).ownership ?? false);
    expect(next.epoch).toBeGreaterThan(first?.epoch ?? Infinity);
    await one.renew();
    expect(await one.claim('x')).toMatchObject({ owner: 'other' });
  });

  test('ownership renewal: reports an ownership that another replica has taken', async () => {
    const { clock, one, other } = await openReplicas({ leaseMs: 50, surrenderMs: 40 });
    const first = (await one.claim('x')).ownership;
    await eventually(async () => (await other.claim('x')).ownership ?? false);
    clock.now = 0;
    expect(first?.isHeld).toBe(true);
    await one.renew();
    expect(first?.isHeld).toBe(false);
  });

  test('ownership renewal: extends the lease, and releasing all frees every name', async () => {
    const { clock, one, other } = await openReplicas();
    const first = (await one.claim('x')).ownership;
    await one.claim('y');
    clock.now = 39_000;
    await one.renew();
    clock.now = 78_000;
    expect(first?.isHeld).toBe(true);
    await one.releaseAll();
    expect(first?.isHeld).toBe(false);
    expect((await other.claim('x')).ownership).toBeDefined();
    expect((await other.claim('y')).ownership).toBeDefined();
  });
});
