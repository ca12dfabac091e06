import { describe, expect, test } from 'vitest';

import { policyCall } from '../../test/support/policy-call.ts';
import { Payload } from '../core/lib/payload.ts';
import type { Guard } from './guard.ts';
import { composeGuards, runGuarded } from './guard-chain.ts';

describe('guard chain', () => {
  const events: string[] = [];
  const guard =
    (name: string): Guard =>
    async (call, next) => {
      events.push(`${name} in`);
      const payload = await next({ ...call, session: `${call.session}${name}` });
      events.push(`${name} out`);
      return payload;
    };

  test('guard chain: runs the first guard outermost, on the way in and out', async () => {
    events.length = 0;
    const run = composeGuards([guard('a'), guard('b')], (call) => {
      events.push('send');
      return Promise.resolve(Payload.of(call.session));
    });
    expect((await run(policyCall({ session: '' }))).value).toBe('ab');
    expect(events).toEqual(['a in', 'b in', 'send', 'b out', 'a out']);
  });

  test('guard chain: sends nothing when a guard refuses', async () => {
    events.length = 0;
    const refuse: Guard = () => Promise.reject(new Error('no'));
    const run = composeGuards([guard('a'), refuse, guard('b')], () =>
      Promise.resolve(Payload.of(events.push('send'))),
    );
    await expect(run(policyCall())).rejects.toThrow('no');
    expect(events).toEqual(['a in']);
  });

  test('guard chain: passes the call through without guards', async () => {
    const payload = Payload.of(1);
    expect(await composeGuards([], () => Promise.resolve(payload))(policyCall())).toBe(payload);
  });
});

function listeningGuard(by: string, events: unknown[]): Guard {
  return (call, next) => {
    call.endListeners.push({
      onEnd: (payload, error) => void events.push([by, payload?.value ?? String(error)]),
    });
    return next(call);
  };
}

test('end listeners: run once, innermost first, before the result is transformed', async () => {
  const events: unknown[] = [];
  const call = policyCall();
  const run = composeGuards([listeningGuard('a', events), listeningGuard('b', events)], () =>
    Promise.resolve(Payload.of('sent')),
  );
  const transformed = await runGuarded(run, call, () => {
    events.push('transform');
    return Payload.of('transformed');
  });
  expect([transformed.value, call.endListeners.length]).toEqual(['transformed', 0]);
  expect(events).toEqual([['b', 'sent'], ['a', 'sent'], 'transform']);
});

test.each([
  ['rejects', () => Promise.reject(new Error('no'))],
  [
    'throws',
    () => {
      throw new Error('no');
    },
  ],
])('end listeners: receive the error when an inner guard %s', async (_how, refuse) => {
  const events: unknown[] = [];
  const run = composeGuards([listeningGuard('a', events), refuse], () =>
    Promise.resolve(Payload.of('never')),
  );
  await expect(runGuarded(run, policyCall())).rejects.toThrow('no');
  expect(events).toEqual([['a', 'Error: no']]);
});

test('end listeners: all run when one of them throws', async () => {
  const events: unknown[] = [];
  const call = policyCall();
  const failing: Guard = (guarded, next) => {
    guarded.endListeners.push({
      onEnd: () => {
        throw new Error('mine');
      },
    });
    return next(guarded);
  };
  const run = composeGuards([listeningGuard('a', events), failing], () =>
    Promise.resolve(Payload.of('sent')),
  );
  await expect(runGuarded(run, call)).rejects.toThrow('mine');
  expect(events).toEqual([['a', 'sent']]);
});
