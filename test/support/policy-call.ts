import { Cancellation } from '../../src/core/lib/cancellation.ts';
import type { UpstreamName } from '../../src/core/ids.ts';
import type { Call } from '../../src/policy/guard.ts';

/** Returns a tool call with default values for everything but `parts`. */
export function policyCall(parts: Partial<Call> & { readonly upstream?: string } = {}): Call {
  const { upstream = 'server', ...call } = parts;
  return {
    caller: { id: 'local', via: 'stdio', profile: 'default' },
    session: 'session',
    operation: { kind: 'tool', upstream: upstream as UpstreamName, method: 'tools/call', params: {} },
    cancellation: new Cancellation(),
    timeoutMs: 1000,
    endListeners: [],
    ...call,
  };
}
