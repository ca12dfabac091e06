import { expect, test } from 'vitest';

import { MemoryClient } from '../../test/support/memory-client.ts';
import { MemoryOthers } from '../../test/support/memory-others.ts';
import { eventually } from '../../test/support/eventually.ts';
import { Payload } from '../lib/payload.ts';
import { GatewayError } from '../model/errors.ts';
import { ParkedCalls } from './parked-calls.ts';

const by = { caller: 'key:anna', place: '/mcp', capabilities: { elicitation: {} } };
const params = { name: 'x', arguments: {} };

/** Two gateways, and a call that asks for a name at the first of them. */
async function parked() {
  const others = new MemoryOthers('aaaaaaaa', 'bbbbbbbb');
  const [a, b] = ['aaaaaaaa', 'bbbbbbbb'].map(
    (name) => new ParkedCalls({ ttlMs: 10_000, others: others.as(name) }),
  );
  if (a === undefined || b === undefined) throw new Error('There are two.');
  const client = new MemoryClient();
  const world = { cancelled: '' };
  const asking = a.run(client.request('tools/call', params), by, async (cancellation, asker) => {
    cancellation.onCancel((reason) => (world.cancelled = reason.message));
    const about = { capabilities: by.capabilities, cancellation, left: () => {} };
    const answer = await asker.ask('elicitation/create', { message: 'Name?' }, about);
    asker.notify('notifications/progress', { progress: 1 });
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
  return { others, a, b, again, start, requestState, world };
}

test('a call goes on at its own gateway when its answer comes to another one, with what it says meanwhile', async () => {
  const { b, again, start, requestState } = await parked();
  expect(requestState).toMatch(/^trunkline\.aaaaaaaa\./);
  const request = again({ action: 'accept' });
  expect((await b.run(request, by, start)).text).toBe('{"big":12345678901234567890}');
  expect(request.told).toEqual([['notifications/progress', { progress: 1 }]]);
  await expect(b.run(again({ action: 'accept' }), by, start)).rejects.toThrow('requestState is unknown');
});

test('it is refused to another caller, and clearly when its gateway is gone', async () => {
  const { others, b, again, start } = await parked();
  const other = b.run(again({ action: 'accept' }), { ...by, caller: 'key:bert' }, start);
  await expect(other).rejects.toThrow('requestState is unknown');
  others.dead.add('aaaaaaaa');
  await expect(b.run(again({ action: 'accept' }), by, start)).rejects.toMatchObject({
    code: 'REPLICA_AWAY',
    message: expect.stringContaining('make it again') as string,
  });
});

test('it is cancelled at its own gateway when its client goes away from the other one', async () => {
  const { b, again, start, world } = await parked();
  const request = again({ action: 'wait' });
  const running = b.run(request, by, start);
  running.catch(() => {});
  await eventually(() => request.told.length === 1);
  request.cancellation.cancel(new GatewayError('CALL_CANCELLED', 'The client went away.'));
  await eventually(() => world.cancelled !== '');
  expect(world.cancelled).toContain('no longer waits');
});
