import fc from 'fast-check';
import { expect, test } from 'vitest';

import { MemoryGateway } from '../../../test/support/memory-gateway.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import type { Caller } from '../../core/caller.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import type { CompletedCall } from '../../observability/completed-call.ts';
import { classifyOutcome } from '../../observability/outcome.ts';

const caller: Caller = { id: 'me', via: 'stdio', profile: 'default' };
const refuse = (): never => {
  throw new GatewayError('WRONG_TIER', 'not through here');
};

/** Actions of a client with the tool that each calls and the expected outcome of its record. */
const ACTIONS = {
  ok: ['s__good', 'ok'],
  toolError: ['s__bad', 'tool-error'],
  rpcError: ['s__odd', 'tool-error'],
  unknown: ['s__none', 'refused'],
  wrongTier: ['s__good', 'refused'],
  cancelled: ['s__slow', 'cancelled'],
} as const;
type Action = keyof typeof ACTIONS;

test('call record: writes one record with the right outcome for every call, in any sequence', async () => {
  const records: CompletedCall[] = [];
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
    { onCallEnd: (ended) => void records.push(ended) },
  );
  const perform = async (action: Action, isSingleServer: boolean): Promise<void> => {
    const [exposed] = ACTIONS[action];
    const name = isSingleServer ? exposed.slice(3) : exposed;
    const backend = isSingleServer ? memory.gateway.singleServer('s') : memory.gateway;
    const cancellation = new Cancellation();
    const request = { session: 'x', cancellation, params: { name, arguments: {} } };
    const call = backend?.callTool(caller, name, {
      ...request,
      ...(action === 'wrongTier' && { check: refuse }),
    });
    if (action === 'cancelled') cancellation.cancel(new GatewayError('CALL_CANCELLED', 'enough'));
    await call?.catch(() => {});
  };
  const action = fc.constantFrom(...(Object.keys(ACTIONS) as Action[]));
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 12 }), async (actions) => {
      records.length = 0;
      await Promise.all(actions.map((next) => perform(next, false)));
      expect(records.map((record) => classifyOutcome(record).outcome).toSorted()).toEqual(
        actions.map((next) => ACTIONS[next][1]).toSorted(),
      );
    }),
    { numRuns: 60 },
  );
  records.length = 0;
  for (const next of ['ok', 'toolError', 'wrongTier', 'cancelled'] as const) await perform(next, true);
  expect(records.map((record) => classifyOutcome(record).outcome)).toEqual([
    'ok',
    'tool-error',
    'refused',
    'cancelled',
  ]);
});

test('call record: writes one record for every subscription, including refused ones', async () => {
  const records: CompletedCall[] = [];
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
    { onCallEnd: (ended) => void records.push(ended) },
  );
  for (const backend of [memory.gateway, memory.gateway.singleServer('s')])
    for (const uri of ['r://a', 'r://none', 'r://no'])
      await backend
        ?.subscribe(caller, uri, () => {})
        .then((subscription) => subscription[Symbol.dispose]())
        .catch(() => {});
  const recorded = records.map((record) => [
    record.call.operation.kind,
    record.call.operation.upstream,
    classifyOutcome(record).outcome,
  ]);
  expect(recorded).toEqual([
    ['subscription', 's', 'ok'],
    ['subscription', undefined, 'refused'],
    ['subscription', 's', 'tool-error'],
    ['subscription', 's', 'ok'],
    // A single server decides itself about resources that it does not list.
    ['subscription', 's', 'ok'],
    ['subscription', 's', 'tool-error'],
  ]);
});
