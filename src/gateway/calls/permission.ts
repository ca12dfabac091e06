import { createHash } from 'node:crypto';

import type { GatewayConfig } from '../../config/config.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Caller } from '../../model/caller.ts';
import type { WaitingCalls } from '../../policy/ask/waiting-calls.ts';
import type { CallerPolicy } from '../../policy/decide.ts';
import type { Ask } from '../../policy/permission.ts';
import type { Sight } from '../sight.ts';

/** What the guard that permits calls goes by: the function that decides what callers see, and who is asked. */
export function permission(
  {
    config,
    isReachable = false,
  }: { readonly config: Pick<GatewayConfig, 'policy' | 'profiles'>; readonly isReachable?: boolean },
  { sight, waiting }: { readonly sight: Sight; readonly waiting: WaitingCalls },
): { readonly policyFor: (caller: Caller) => CallerPolicy; readonly ask: Ask } {
  const { policy, profiles } = config;
  const { by, waitMs } = policy.ask ?? { by: ['person'], waitMs: 120_000 };
  let asking: Promise<Ask> | undefined;
  const load = async (): Promise<Ask> => {
    const { ask } = await import('../../policy/ask/ask.ts');
    const revision = createHash('sha256').update(canonicalJson({ policy, profiles })).digest('base64url');
    return ask({ waiting, by, waitMs, isReachable, policy: revision });
  };
  return {
    policyFor: (caller) => sight.of(caller),
    // Most gateways never ask.
    ask: async (call, decision) => (await (asking ??= load()))(call, decision),
  };
}
