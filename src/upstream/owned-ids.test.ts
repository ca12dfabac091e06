import { describe, expect, test } from 'vitest';
import type { ClientBehind } from '../model/client-behind.ts';
import { OwnedIds } from './owned-ids.ts';

function client(): ClientBehind & { readonly heard: unknown[] } {
  const heard: unknown[] = [];
  return {
    ...{ heard, session: 's', capabilities: {}, logLevel: undefined, limit: undefined },
    ask: () => Promise.resolve({}),
    log: () => {},
    tell: (_method, params) => void heard.push(params),
  };
}

const STATUS = 'notifications/tasks/status';

describe('OwnedIds', () => {
  test('tells the owner of a task, a page that was shown and a page that was asked for', () => {
    const [ids, one, other] = [new OwnedIds(), client(), client()];
    ids.answered({ task: { taskId: '1' } }, one);
    ids.asked({ elicitationId: '1' }, other);
    ids.refused({ elicitations: [{ elicitationId: '2' }, 7] }, other);
    ids.tell(STATUS, { taskId: '1' });
    ids.tell('notifications/elicitation/complete', { elicitationId: '1' });
    ids.tell('notifications/elicitation/complete', { elicitationId: '2' });
    expect(one.heard).toEqual([{ taskId: '1' }]);
    expect(other.heard).toEqual([{ elicitationId: '1' }, { elicitationId: '2' }]);
  });

  test('keeps what comes before the answer that says whose it is', () => {
    const [ids, one] = [new OwnedIds(), client()];
    for (let n = 0; n < 30; n++) ids.tell(STATUS, { taskId: '1', n });
    expect(one.heard).toEqual([]);
    ids.answered({ resultType: 'task', taskId: '1' }, one);
    expect(one.heard).toHaveLength(20);
    expect(one.heard[0]).toEqual({ taskId: '1', n: 0 });
  });

  test('is bounded', () => {
    const [ids, one] = [new OwnedIds(), client()];
    for (let n = 0; n <= 1000; n++) ids.answered({ task: { taskId: `${n}` } }, one);
    ids.tell(STATUS, { taskId: '0' });
    ids.tell(STATUS, { taskId: '1000' });
    expect(one.heard).toEqual([{ taskId: '1000' }]);
  });
});
