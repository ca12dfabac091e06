import fc from 'fast-check';
import { expect, test } from 'vitest';

import { MemoryGateway } from '../../../test/support/memory-gateway.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import type { Caller } from '../../model/caller.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import type { EndedCall } from '../../observe/ended-call.ts';
import { outcomeOf } from '../../observe/outcome.ts';

const caller: Caller = { id: 'me', via: 'stdio', profile: 'default' };
const refuse = (): never => {
  throw new GatewayError('WRONG_TIER', 'not through here');
};

/** What a client may do, and how its record must end. */
const DEEDS = {
  ok: ['s__good', 'ok'],
  toolError: ['s__bad', 'tool-error'],
  rpcError: ['s__odd', 'tool-error'],
  unknown: ['s__none', 'refused'],
  wrongTier: ['s__good', 'refused'],
  cancelled: ['s__slow', 'cancelled'],
} as const;
type Deed = keyof typeof DEEDS;

test('whatever the sequence of calls, there are as many records as calls, each with the right outcome', async () => {
  const records: EndedCall[] = [];
  await using memory = await MemoryGateway.start(
    {
      s: {
        tools: ['good', 'bad', 'odd', 'slow'].map((name) => ({ name, inputSchema: { type: 'object' } })),
        script: ({ params }) => {
          const name = params?.['name'];
          if (name === 'odd') throw new RpcError({ code: -32000, message: 'odd' });
          return name === 'slow' ? undefined : { content: [], isError: name === 'bad' };
        },
      },
    },
    {},
    { ended: (ended) => void records.push(ended) },
  );
  const perform = async (deed: Deed, isAlone: boolean): Promise<void> => {
    const [exposed] = DEEDS[deed];
    const name = isAlone ? exposed.slice(3) : exposed;
    const served = isAlone ? memory.gateway.alone('s') : memory.gateway;
    const cancellation = new Cancellation();
    const request = { session: 'x', cancellation, params: { name, arguments: {} } };
    const call = served?.callTool(caller, name, {
      ...request,
      ...(deed === 'wrongTier' && { check: refuse }),
    });
    if (deed === 'cancelled') cancellation.cancel(new GatewayError('CALL_CANCELLED', 'enough'));
    await call?.catch(() => {});
  };
  const deed = fc.constantFrom(...(Object.keys(DEEDS) as Deed[]));
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { maxLength: 12 }), async (deeds) => {
      records.length = 0;
      await Promise.all(deeds.map((each) => perform(each, false)));
      expect(records.map((each) => outcomeOf(each).outcome).toSorted()).toEqual(
        deeds.map((each) => DEEDS[each][1]).toSorted(),
      );
    }),
    { numRuns: 60 },
  );
  records.length = 0;
  for (const each of ['ok', 'toolError', 'wrongTier', 'cancelled'] as const) await perform(each, true);
  expect(records.map((each) => outcomeOf(each).outcome)).toEqual([
    'ok',
    'tool-error',
    'refused',
    'cancelled',
  ]);
});

test('each subscription leaves one record, also of what is not there and of what the server refuses', async () => {
  const records: EndedCall[] = [];
  await using memory = await MemoryGateway.start(
    {
      s: {
        resources: ['r://a', 'r://no'].map((uri) => ({ uri, name: uri })),
        script: ({ method, params }) => {
          if (method === 'resources/subscribe' && params?.['uri'] === 'r://no')
            throw new RpcError({ code: -32000, message: 'no' });
          return {};
        },
      },
    },
    {},
    { ended: (ended) => void records.push(ended) },
  );
  for (const served of [memory.gateway, memory.gateway.alone('s')])
    for (const uri of ['r://a', 'r://none', 'r://no'])
      await served
        ?.subscribe(caller, uri, () => {})
        .then((subscription) => subscription[Symbol.dispose]())
        .catch(() => {});
  const told = records.map((each) => [
    each.call.operation.kind,
    each.call.operation.upstream,
    outcomeOf(each).outcome,
  ]);
  expect(told).toEqual([
    ['subscription', 's', 'ok'],
    ['subscription', undefined, 'refused'],
    ['subscription', 's', 'tool-error'],
    ['subscription', 's', 'ok'],
    // What one server lists or not is its own matter, where it is alone.
    ['subscription', 's', 'ok'],
    ['subscription', 's', 'tool-error'],
  ]);
});
