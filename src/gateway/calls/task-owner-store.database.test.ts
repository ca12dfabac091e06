import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import type { Caller } from '../../core/caller.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { Payload } from '../../core/lib/payload.ts';
import { openDatabase } from '../../core/storage/database.ts';
import type { Call } from '../../policy/guard.ts';
import { TaskOwnerStore } from './task-owner-store.ts';
import { TaskRoutes } from './task-routes.ts';

const one = 'one' as UpstreamName;
const ada: Caller = { id: 'key:ada', via: 'http', profile: 'default' };
const bob: Caller = { ...ada, id: 'key:bob' };
const HOUR_MS = 3_600_000;

async function startTask(tasks: TaskRoutes, caller: Caller, task: object): Promise<void> {
  // recordResult reads only these members.
  const call = { caller, operation: { kind: 'tool', upstream: one } } as Call;
  await tasks.recordResult(call, Payload.of({ task }));
}

eachEngine((_engine, newStore) => {
  /** Opens two gateways on one database. They also stand for one gateway before and after a restart. */
  const opened = async (maxPerOwner = 100_000) => {
    const place = await newStore(temporaryFolder('tasks'));
    const clock = { now: 1_000_000 };
    const now = (): number => clock.now;
    const open = async () => {
      const database = await openDatabase(place);
      onTestFinished(() => database[Symbol.asyncDispose]());
      const store = new TaskOwnerStore({ database: () => Promise.resolve(database), now, maxPerOwner });
      return { database, tasks: new TaskRoutes({ store, now }) };
    };
    return { clock, first: await open(), second: await open() };
  };

  test('task owner: is known to other gateways and after a restart', async () => {
    const { first, second } = await opened();
    const taskId = 'lone \ud800 and nul \u0000';
    await startTask(first.tasks, ada, { taskId });
    expect(await second.tasks.requireUpstream(ada, { taskId })).toBe(one);
    await expect(second.tasks.requireUpstream(bob, { taskId })).rejects.toThrow('no such task');
    expect([...(await second.tasks.filterUsable(bob, one, [taskId]))]).toEqual([]);
    await expect(second.tasks.requireUpstream(ada, { taskId: 'lone \ud801 and nul \u0000' })).rejects.toThrow(
      'no such task',
    );
  });

  test('task owner: is the latest caller, at every gateway, if a server uses an id again', async () => {
    const { first, second } = await opened();
    await startTask(first.tasks, ada, { taskId: '1' });
    await startTask(second.tasks, bob, { taskId: '1' });
    for (const { tasks } of [first, second]) {
      expect(await tasks.requireUpstream(bob, { taskId: '1' })).toBe(one);
      await expect(tasks.requireUpstream(ada, { taskId: '1' })).rejects.toThrow('no such task');
    }
  });

  test('task owner: is known beyond the 5,000 tasks in memory', async () => {
    const { first } = await opened();
    for (let id = 0; id <= 5000; id++) await startTask(first.tasks, ada, { taskId: String(id) });
    expect(await first.tasks.requireUpstream(ada, { taskId: '0' })).toBe(one);
    expect([...(await first.tasks.filterUsable(bob, one, ['0', '5000']))]).toEqual([]);
  }, 60_000);

  test.each([
    ['the time limit of the task and an hour', { ttl: 60_000 }, 60_000 + HOUR_MS],
    ['the time limit of a modern task and an hour', { ttlMs: 0 }, HOUR_MS],
    ['30 days without a time limit', { ttl: null }, 720 * HOUR_MS],
    ['30 days with an endless time limit', { ttl: 1e300 }, 720 * HOUR_MS],
    ['30 days with a wrong time limit', { ttl: -1 }, 720 * HOUR_MS],
  ])('task owner: is forgotten after %s', async (_when, limit, keptMs) => {
    const { first, second, clock } = await opened();
    await startTask(first.tasks, ada, { taskId: '1', ...limit });
    clock.now += keptMs - 1;
    for (const { tasks } of [first, second])
      expect(await tasks.requireUpstream(ada, { taskId: '1' })).toBe(one);
    clock.now++;
    for (const { tasks } of [first, second])
      await expect(tasks.requireUpstream(ada, { taskId: '1' })).rejects.toThrow('no such task');
  });

  test('task owners: take limited space, by removing expired ones and the oldest of a caller with too many', async () => {
    const { first, clock } = await opened(3);
    const count = async (): Promise<number> =>
      (await first.database.query.selectFrom('task_owners').select('task').execute()).length;
    await startTask(first.tasks, bob, { taskId: 'b', ttl: null });
    for (let id = 0; id < 6; id++) await startTask(first.tasks, ada, { taskId: `${id}`, ttl: HOUR_MS + id });
    expect(await count()).toBe(7);
    clock.now += 600_000;
    await startTask(first.tasks, ada, { taskId: '6', ttl: HOUR_MS });
    expect(await count()).toBe(1 + 3 + 1);
    clock.now += 3 * HOUR_MS;
    await startTask(first.tasks, bob, { taskId: 'c', ttl: null });
    expect(await count()).toBe(2);
    expect(await first.tasks.requireUpstream(bob, { taskId: 'b' })).toBe(one);
  });
});
