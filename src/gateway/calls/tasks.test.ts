import { describe, expect, test } from 'vitest';
import { Payload } from '../../lib/payload.ts';
import type { Caller } from '../../model/caller.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Call } from '../../policy/call.ts';
import { Tasks } from './tasks.ts';

const [a, b] = ['a', 'b'] as UpstreamName[];
const ada: Caller = { id: 'ada', via: 'http', profile: 'default' };
const bob: Caller = { ...ada, id: 'bob' };

function begun(tasks: Tasks, caller: Caller, upstream: UpstreamName | undefined, result: object): void {
  // Only these members are read.
  tasks.answered({ caller, operation: { kind: 'tool', upstream } } as Call, Payload.of(result));
}

describe('Tasks', () => {
  test('of either era are found for their caller and for nobody else', () => {
    const tasks = new Tasks();
    begun(tasks, ada, a, { task: { taskId: '1' } });
    begun(tasks, ada, b, { resultType: 'task', taskId: '2' });
    begun(tasks, ada, b, { content: [], taskId: '3' });
    expect(tasks.upstreamOf(ada, { taskId: '1' })).toBe(a);
    expect(tasks.upstreamOf(ada, { taskId: '2' })).toBe(b);
    for (const [caller, taskId] of [
      [bob, '1'],
      [ada, '3'],
      [ada, undefined],
    ] as const)
      expect(() => tasks.upstreamOf(caller, { taskId })).toThrow('no such task');
  });

  test('with one id at two servers are not guessed', () => {
    const tasks = new Tasks();
    for (const upstream of [a, b]) begun(tasks, ada, upstream, { task: { taskId: '1' } });
    expect(() => tasks.upstreamOf(ada, { taskId: '1' })).toThrow('several servers');
  });

  test('of others are taken out of a list', () => {
    const tasks = new Tasks();
    begun(tasks, ada, a, { task: { taskId: '1' } });
    begun(tasks, bob, a, { task: { taskId: '2' } });
    const list = Payload.of({ tasks: [{ taskId: '1' }, { taskId: '2' }, { taskId: '3' }], nextCursor: 'x' });
    expect(tasks.withoutForeign(ada, a!, list).value).toEqual({
      tasks: [{ taskId: '1' }, { taskId: '3' }],
      nextCursor: 'x',
    });
  });

  test('are bounded, the oldest goes', () => {
    const tasks = new Tasks();
    for (let id = 0; id <= 5000; id++) begun(tasks, ada, a, { task: { taskId: String(id) } });
    expect(() => tasks.upstreamOf(ada, { taskId: '0' })).toThrow('no such task');
    expect(tasks.upstreamOf(ada, { taskId: '5000' })).toBe(a);
  });
});
