import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../test/support/each-engine.ts';
import { eventually } from '../../test/support/eventually.ts';
import { temporaryFolder } from '../../test/support/test-run.ts';
import { openDatabase } from '../storage/database.ts';
import { Ownerships } from './ownerships.ts';

eachEngine((_engine, newStore) => {
  const opened = async (times = { leaseMs: 60_000, surrenderMs: 40_000 }) => {
    const place = await newStore(temporaryFolder('ownerships'));
    const clock = { now: 0 };
    const replica = async (self: string) => {
      const database = await openDatabase(place);
      onTestFinished(() => database[Symbol.asyncDispose]());
      const ownerships = new Ownerships({
        ...{ self, database: () => Promise.resolve(database), clock: () => clock.now, times },
        onError: (error) => {
          throw error;
        },
      });
      return ownerships;
    };
    return { clock, one: await replica('one'), other: await replica('other') };
  };

  test('of two that want it at the same time one gets it, and the other is told who', async () => {
    const { one, other } = await opened();
    const claims = await Promise.all([
      ...[one, one, one].map((each) => each.claim('x')),
      ...[other, other].map((each) => each.claim('x')),
    ]);
    const [mine, , , theirs] = claims;
    expect([mine?.ours, theirs?.ours].filter((ours) => ours !== undefined)).toHaveLength(1);
    const winner = mine?.ours === undefined ? 'other' : 'one';
    const loser = mine?.ours === undefined ? mine : theirs;
    expect(loser).toMatchObject({ owner: winner });
    expect(one.held('x') === undefined).toBe(other.held('x') !== undefined);
    expect((await other.claim('y')).ours).toBeDefined();
  });

  test('what is given back can be taken, with a higher epoch', async () => {
    const { one, other } = await opened();
    const first = (await one.claim('x')).ours;
    first?.use()[Symbol.dispose]();
    expect(one.held('x')).toBeUndefined();
    const next = await eventually(async () => (await other.claim('x')).ours ?? false);
    expect(next.epoch).toBeGreaterThanOrEqual(first?.epoch ?? Infinity);
    expect(await one.claim('x')).toMatchObject({ owner: 'other' });
  });

  test('what was not renewed in time is that of anybody else, and its owner knows before they do', async () => {
    const { clock, one, other } = await opened({ leaseMs: 300, surrenderMs: 100 });
    const first = (await one.claim('x')).ours;
    clock.now = 100;
    expect(one.held('x')).toBeUndefined();
    expect(await other.claim('x')).toMatchObject({ owner: 'one' });
    const next = await eventually(async () => (await other.claim('x')).ours ?? false);
    expect(next.epoch).toBeGreaterThan(first?.epoch ?? Infinity);
    await one.renew();
    expect(await one.claim('x')).toMatchObject({ owner: 'other' });
  });

  test('what another one has taken is lost with the next renewal, whatever our clock says', async () => {
    const { clock, one, other } = await opened({ leaseMs: 50, surrenderMs: 40 });
    const first = (await one.claim('x')).ours;
    await eventually(async () => (await other.claim('x')).ours ?? false);
    clock.now = 0;
    expect(first?.isHeld).toBe(true);
    await one.renew();
    expect(first?.isHeld).toBe(false);
  });

  test('a renewal prolongs it, and ending gives everything back', async () => {
    const { clock, one, other } = await opened();
    const first = (await one.claim('x')).ours;
    await one.claim('y');
    clock.now = 39_000;
    await one.renew();
    clock.now = 78_000;
    expect(first?.isHeld).toBe(true);
    await one.releaseAll();
    expect(first?.isHeld).toBe(false);
    expect((await other.claim('x')).ours).toBeDefined();
    expect((await other.claim('y')).ours).toBeDefined();
  });
});
