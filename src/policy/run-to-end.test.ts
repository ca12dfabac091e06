import { expect, test } from 'vitest';

import { policyCall } from '../../test/support/policy-call.ts';
import { Payload } from '../lib/payload.ts';
import type { Guard } from './call.ts';
import { chain } from './chain.ts';
import { runToEnd } from './run-to-end.ts';

function telling(by: string, said: unknown[]): Guard {
  return (call, next) => {
    call.ends.push({ over: (payload, error) => void said.push([by, payload?.value ?? String(error)]) });
    return next(call);
  };
}

test('whoever wants to know is told once, the last one first, before anything is made of the answer', async () => {
  const said: unknown[] = [];
  const call = policyCall();
  const run = chain([telling('a', said), telling('b', said)], () => Promise.resolve(Payload.of('sent')));
  const made = await runToEnd(run, call, () => {
    said.push('made');
    return Payload.of('made');
  });
  expect([made.value, call.ends.length]).toEqual(['made', 0]);
  expect(said).toEqual([['b', 'sent'], ['a', 'sent'], 'made']);
});

test.each([
  ['rejects', () => Promise.reject(new Error('no'))],
  [
    'throws',
    () => {
      throw new Error('no');
    },
  ],
])('those outside of a guard that %s are told why', async (_how, refuse) => {
  const said: unknown[] = [];
  const run = chain([telling('a', said), refuse], () => Promise.resolve(Payload.of('never')));
  await expect(runToEnd(run, policyCall())).rejects.toThrow('no');
  expect(said).toEqual([['a', 'Error: no']]);
});

test('one that throws keeps nobody else from being told', async () => {
  const said: unknown[] = [];
  const call = policyCall();
  const failing: Guard = (one, next) => {
    one.ends.push({
      over: () => {
        throw new Error('mine');
      },
    });
    return next(one);
  };
  const run = chain([telling('a', said), failing], () => Promise.resolve(Payload.of('sent')));
  await expect(runToEnd(run, call)).rejects.toThrow('mine');
  expect(said).toEqual([['a', 'sent']]);
});
