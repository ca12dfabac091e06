import { describe, expect, test } from 'vitest';
import type { RequestingClient } from '../core/requesting-client.ts';
import { IdOwners } from './id-owners.ts';

function client(): RequestingClient & { readonly received: unknown[] } {
  const received: unknown[] = [];
  return {
    received,
    session: 's',
    capabilities: {},
    logLevel: undefined,
    deadline: undefined,
    ask: () => Promise.resolve({}),
    log: () => {},
    sendNotification: (_method, params) => void received.push(params),
  };
}

const STATUS = 'notifications/tasks/status';

describe('IdOwners', () => {
  test('id owners: receive the notifications about their tasks and elicitations', () => {
    const [owners, one, other] = [new IdOwners(), client(), client()];
    owners.recordResult({ task: { taskId: '1' } }, one);
    owners.recordElicitation({ elicitationId: '1' }, other);
    owners.recordError({ elicitations: [{ elicitationId: '2' }, 7] }, other);
    owners.notifyOwner(STATUS, { taskId: '1' });
    owners.notifyOwner('notifications/elicitation/complete', { elicitationId: '1' });
    owners.notifyOwner('notifications/elicitation/complete', { elicitationId: '2' });
    expect(one.received).toEqual([{ taskId: '1' }]);
    expect(other.received).toEqual([{ elicitationId: '1' }, { elicitationId: '2' }]);
  });

  test('id owners: receive notifications that arrived before the response with the id', () => {
    const [owners, one] = [new IdOwners(), client()];
    for (let n = 0; n < 30; n++) owners.notifyOwner(STATUS, { taskId: '1', n });
    expect(one.received).toEqual([]);
    owners.recordResult({ resultType: 'task', taskId: '1' }, one);
    expect(one.received).toHaveLength(20);
    expect(one.received[0]).toEqual({ taskId: '1', n: 0 });
  });

  test('id owners: are forgotten beyond 1,000, oldest first', () => {
    const [owners, one] = [new IdOwners(), client()];
    for (let n = 0; n <= 1000; n++) owners.recordResult({ task: { taskId: `${n}` } }, one);
    owners.notifyOwner(STATUS, { taskId: '0' });
    owners.notifyOwner(STATUS, { taskId: '1000' });
    expect(one.received).toEqual([{ taskId: '1000' }]);
  });
});
