import fc from 'fast-check';
import { expect, test } from 'vitest';

import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import { Cancellation } from '../lib/cancellation.ts';
import type { Caller } from '../model/caller.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import type { EndedCall } from '../observe/ended-call.ts';
import { outcomeOf } from '../observe/outcome.ts';

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
