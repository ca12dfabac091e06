import { describe, expect, test } from 'vitest';
import { Payload } from '../../core/lib/payload.ts';
import type { Caller } from '../../core/caller.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { storeError } from '../../core/storage/store-error.ts';
import type { Call } from '../../policy/guard.ts';
import { TaskOwnerStore } from './task-owner-store.ts';
import { TaskRoutes } from './task-routes.ts';

const [a, b] = ['a', 'b'] as UpstreamName[];
const ada: Caller = { id: 'ada', via: 'http', profile: 'default' };
const bob: Caller = { ...ada, id: 'bob' };
const user: Caller = { id: 'local', via: 'stdio', profile: 'default' };

async function startTask(
  tasks: TaskRoutes,
  caller: Caller,
  upstream: UpstreamName | undefined,
  result: object,
): Promise<void> {
  // recordResult reads only these members.
  await tasks.recordResult({ caller, operation: { kind: 'tool', upstream } } as Call, Payload.of(result));
}

describe('task routes', () => {
  test('task: is found only for the caller that started it, in both protocol eras', async () => {
    const tasks = new TaskRoutes();
    await startTask(tasks, ada, a, { task: { taskId: '1' } });
    await startTask(tasks, ada, b, { resultType: 'task', taskId: '2' });
    await startTask(tasks, ada, b, { content: [], taskId: '3' });
    expect(await tasks.requireUpstream(ada, { taskId: '1' })).toBe(a);
    expect(await tasks.requireUpstream(ada, { taskId: '2' })).toBe(b);
    for (const [caller, taskId] of [
      [bob, '1'],
      [ada, '3'],
      [ada, undefined],
    ] as const)
      await expect(tasks.requireUpstream(caller, { taskId })).rejects.toThrow('no such task');
  });

  test('task: rejects an id that two servers use as ambiguous', async () => {
    const tasks = new TaskRoutes();
    for (const upstream of [a, b]) await startTask(tasks, ada, upstream, { task: { taskId: '1' } });
    await expect(tasks.requireUpstream(ada, { taskId: '1' })).rejects.toThrow('Several servers');
  });

  test('task list: removes tasks of other callers', async () => {
    const tasks = new TaskRoutes();
    await startTask(tasks, ada, a, { task: { taskId: '1' } });
    await startTask(tasks, bob, a, { task: { taskId: '2' } });
    await startTask(tasks, user, a, { task: { taskId: '4' } });
    const ids = ['1', '2', '3', '4', 5];
    const list = Payload.of({ tasks: [...ids.map((taskId) => ({ taskId })), 'x'], nextCursor: 'x' });
    expect((await tasks.removeTasksOfOthers(ada, a!, list)).value).toEqual({
      tasks: [{ taskId: '1' }],
      nextCursor: 'x',
    });
    // Without authentication there is only one user, who may also see tasks of unknown owners.
    expect((await tasks.removeTasksOfOthers(user, a!, list)).value).toEqual({
      tasks: [{ taskId: '3' }, { taskId: '4' }, { taskId: 5 }, 'x'],
      nextCursor: 'x',
    });
  });

  test('task: is refused to an authenticated caller if its owner is unknown', async () => {
    const tasks = new TaskRoutes();
    expect([...(await tasks.filterUsable(ada, a!, ['1', undefined]))]).toEqual([]);
    expect([...(await tasks.filterUsable(user, a!, ['1', undefined]))]).toEqual(['1', undefined]);
  });

  test('task: belongs to the permissions of its caller and not only to its id', async () => {
    const tasks = new TaskRoutes();
    await startTask(tasks, ada, a, { task: { taskId: '1' } });
    for (const other of [
      { ...ada, profile: 'wide' },
      { ...ada, groups: ['staff'] },
      { ...ada, roles: ['admin'] },
      { ...ada, tier: 'read' as const },
    ])
      await expect(tasks.requireUpstream(other, { taskId: '1' })).rejects.toThrow('no such task');
    expect(await tasks.requireUpstream({ ...ada, groups: [] }, { taskId: '1' })).toBe(a);
  });

  test('task: forgets the oldest task beyond 5,000', async () => {
    const tasks = new TaskRoutes();
    for (let id = 0; id <= 5000; id++) await startTask(tasks, ada, a, { task: { taskId: String(id) } });
    await expect(tasks.requireUpstream(ada, { taskId: '0' })).rejects.toThrow('no such task');
    expect(await tasks.requireUpstream(ada, { taskId: '5000' })).toBe(a);
  });

  test('task list: leaves the event loop responsive however many tasks a server lists', async () => {
    const tasks = new TaskRoutes();
    const list = Payload.of({ tasks: Array.from({ length: 50_000 }, (_, at) => ({ taskId: `${at}` })) });
    let turns = 0;
    const counter = setInterval(() => turns++, 1);
    expect((await tasks.removeTasksOfOthers(ada, a!, list)).value).toEqual({ tasks: [] });
    clearInterval(counter);
    expect(turns).toBeGreaterThan(5);
  });

  test('task: is followed where it was started while the database cannot be reached, and reported once', async () => {
    const logged: string[] = [];
    const database = () => Promise.reject(storeError('away', {}));
    const store = new TaskOwnerStore({ database, now: Date.now });
    const tasks = new TaskRoutes({ store, log: { warn: (text: string) => void logged.push(text) } });
    await startTask(tasks, ada, a, { task: { taskId: '1' } });
    expect(await tasks.requireUpstream(ada, { taskId: '1' })).toBe(a);
    expect([...(await tasks.filterUsable(bob, a!, ['1', '2']))]).toEqual([]);
    expect(logged).toHaveLength(1);
  });
});
