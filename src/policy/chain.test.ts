import { describe, expect, test } from 'vitest';

import { policyCall } from '../../test/support/policy-call.ts';
import { Payload } from '../lib/payload.ts';
import type { Guard } from './call.ts';
import { chain } from './chain.ts';

describe('chain', () => {
  const said: string[] = [];
  const guard =
    (name: string): Guard =>
    async (call, next) => {
      said.push(`${name} in`);
      const payload = await next({ ...call, session: `${call.session}${name}` });
      said.push(`${name} out`);
      return payload;
    };

  test('lets the first guard be the outermost, in and out', async () => {
    said.length = 0;
    const run = chain([guard('a'), guard('b')], (call) => {
      said.push('send');
      return Promise.resolve(Payload.of(call.session));
    });
    expect((await run(policyCall({ session: '' }))).value).toBe('ab');
    expect(said).toEqual(['a in', 'b in', 'send', 'b out', 'a out']);
  });

  test('sends nothing that a guard refuses', async () => {
    said.length = 0;
    const refuse: Guard = () => Promise.reject(new Error('no'));
    const run = chain([guard('a'), refuse, guard('b')], () => Promise.resolve(Payload.of(said.push('send'))));
    await expect(run(policyCall())).rejects.toThrow('no');
    expect(said).toEqual(['a in']);
  });

  test('without guards is what it ends in', async () => {
    const payload = Payload.of(1);
    expect(await chain([], () => Promise.resolve(payload))(policyCall())).toBe(payload);
  });
});
