import { describe, expect, test } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { ToolEntry } from '../../core/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../../core/ids.ts';
import type { Call } from '../guard.ts';
import type { CallerPolicy, Decision } from '../caller-policy.ts';
import { permissionGuard } from './access-guards.ts';

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

function runPermissionGuard(
  decision: Decision,
  approve: () => Promise<void> = () => Promise.resolve(),
): Promise<Payload> {
  const policy: CallerPolicy = {
    key: '',
    isUnrestricted: false,
    decide: () => decision,
    canSee: () => true,
    canKnowServer: () => true,
    hidesByTag: false,
  };
  return permissionGuard({ policyFor: () => policy, approve })(call, () => Promise.resolve(done));
}

describe('permission guard', () => {
  test('permission guard: passes an allowed call', async () => {
    expect(await runPermissionGuard({ verdict: 'allow', rule: 'default' })).toBe(done);
  });

  test('permission guard: rejects a hidden entry as unknown', async () => {
    const refused = runPermissionGuard({ verdict: 'hide', rule: 'no' });
    await expect(refused).rejects.toMatchObject({
      code: 'ENTRY_NOT_FOUND',
      message: 'Unknown tool: one__send.',
    });
  });

  test('permission guard: waits for approval if a rule asks for it', async () => {
    const decision: Decision = { verdict: 'ask', rule: 'first' };
    let resolveApproval = (): void => {};
    const approval = new Promise<void>((resolve) => (resolveApproval = resolve));
    let isDone = false;
    const result = runPermissionGuard(decision, () => approval).then(() => (isDone = true));
    await Promise.resolve();
    expect(isDone).toBe(false);
    resolveApproval();
    await result;
    await expect(runPermissionGuard(decision, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});
