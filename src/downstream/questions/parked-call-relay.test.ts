import { expect, test } from 'vitest';

import { MemoryClient } from '../../../test/support/memory-client.ts';
import { MemoryReplicas } from '../../../test/support/memory-replicas.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { Payload } from '../../core/lib/payload.ts';
import { GatewayError } from '../../core/errors.ts';
import { ParkedCalls } from './parked-calls.ts';

const owner = { caller: 'key:anna', endpoint: '/mcp', capabilities: { elicitation: {} } };
const params = { name: 'x', arguments: {} };

/** Creates two replicas and parks a call that asks for a name at the first one. */
async function parked() {
  const replicas = new MemoryReplicas('aaaaaaaa', 'bbbbbbbb');
  const [a, b] = ['aaaaaaaa', 'bbbbbbbb'].map(
    (name) => new ParkedCalls({ ttlMs: 10_000, replicas: replicas.as(name) }),
  );
  if (a === undefined || b === undefined) throw new Error('There are two.');
  const client = new MemoryClient();
  const world = { cancelled: '' };
  const asking = a.run(client.request('tools/call', params), owner, async (channel) => {
    const { cancellation } = channel;
    cancellation.onCancel((reason) => (world.cancelled = reason.message));
    const question = { method: 'elicitation/create', params: { message: 'Name?' } };
    const answer = await channel.ask(question, { cancellation, onRequestEnd: () => {} });
    channel.notify('notifications/progress', { progress: 1 });
    if (answer['action'] === 'wait') await new Promise(() => {});
    return Payload.ofText('{"big":12345678901234567890}');
  });
  const { requestState } = (await asking).value as { requestState: string };
  const again = (answer: object, state = requestState) =>
    client.request('tools/call', {
      ...params,
      requestState: state,
      inputResponses: { 'question-1': answer },
    });
  const start = (): Promise<Payload> => Promise.reject(new Error('It is made anew.'));
  return { replicas, a, b, again, start, requestState, world };
}

test('parked call: continues at its own replica when the answer arrives at another one', async () => {
  const { b, again, start, requestState } = await parked();
  expect(requestState).toMatch(/^trunkline\.aaaaaaaa\./);
  const request = again({ action: 'accept' });
  expect((await b.run(request, owner, start)).text).toBe('{"big":12345678901234567890}');
  expect(request.notifications).toEqual([['notifications/progress', { progress: 1 }]]);
  await expect(b.run(again({ action: 'accept' }), owner, start)).rejects.toThrow('Unknown requestState');
});

test('parked call: is hidden from another caller and fails clearly when its replica is gone', async () => {
  const { replicas, b, again, start } = await parked();
  const other = b.run(again({ action: 'accept' }), { ...owner, caller: 'key:bert' }, start);
  await expect(other).rejects.toThrow('Unknown requestState');
  replicas.dead.add('aaaaaaaa');
  await expect(b.run(again({ action: 'accept' }), owner, start)).rejects.toMatchObject({
    code: 'REPLICA_AWAY',
    message: expect.stringContaining('make it again') as string,
  });
});

test('parked call: is cancelled at its own replica when the client leaves another one', async () => {
  const { b, again, start, world } = await parked();
  const request = again({ action: 'wait' });
  const running = b.run(request, owner, start);
  running.catch(() => {});
  await eventually(() => request.notifications.length === 1);
  request.cancellation.cancel(new GatewayError('CALL_CANCELLED', 'The client disconnected.'));
  await eventually(() => world.cancelled !== '');
  expect(world.cancelled).toContain('no longer waits');
});
