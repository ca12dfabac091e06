import { describe, expect, test } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { Payload } from '../../lib/payload.ts';
import type { ToolEntry } from '../../model/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../../model/ids.ts';
import type { Call } from '../call.ts';
import type { CallerPolicy, Decision } from '../decide.ts';
import { permit } from './permit.ts';

const entry: ToolEntry = {
  kind: 'tool',
  name: 'one__send' as ExposedName,
  upstream: 'one' as UpstreamName,
  fingerprint: 'f' as Fingerprint,
  definition: { name: 'send' },
};
const { operation } = policyCall();
const call: Call = policyCall({ operation: { ...operation, entry } });
const done = Payload.of({ ok: true });

function guarded(decision: Decision, ask: () => Promise<void> = () => Promise.resolve()): Promise<Payload> {
  const policy: CallerPolicy = {
    key: '',
    isOpen: false,
    decide: () => decision,
    sees: () => true,
    knows: () => true,
    hidesByTag: false,
  };
  return permit({ policyFor: () => policy, ask })(call, () => Promise.resolve(done));
}

describe('a call is decided about once more', () => {
  test('and goes on where it is allowed', async () => {
    expect(await guarded({ verdict: 'allow', rule: 'default' })).toBe(done);
  });

  test('and is unknown where it is hidden, however it got here', async () => {
    const refused = guarded({ verdict: 'hide', rule: 'no' });
    await expect(refused).rejects.toMatchObject({
      code: 'ENTRY_NOT_FOUND',
      message: 'Unknown tool: one__send.',
    });
  });

  test('and waits for a person where a rule says so', async () => {
    const ask: Decision = { verdict: 'ask', rule: 'first' };
    let agree = (): void => {};
    const answered = new Promise<void>((resolve) => (agree = resolve));
    let isDone = false;
    const going = guarded(ask, () => answered).then(() => (isDone = true));
    await Promise.resolve();
    expect(isDone).toBe(false);
    agree();
    await going;
    await expect(guarded(ask, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});
