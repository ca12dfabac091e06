import { Cancellation } from '../../src/lib/cancellation.ts';
import type { UpstreamName } from '../../src/model/ids.ts';
import type { Call } from '../../src/policy/call.ts';

/** A call of some tool, with the parts that a test cares about. */
export function policyCall(parts: Partial<Call> & { readonly upstream?: string } = {}): Call {
  const { upstream = 'server', ...call } = parts;
  return {
    caller: { id: 'local', via: 'stdio', profile: 'default' },
    session: 'session',
    operation: { kind: 'tool', upstream: upstream as UpstreamName, method: 'tools/call', params: {} },
    cancellation: new Cancellation(),
    timeoutMs: 1000,
    ends: [],
    ...call,
  };
}
