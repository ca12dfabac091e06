import type { Caller } from '../../model/caller.ts';
import type { ToolEntry } from '../../model/entry.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Call, Operation } from '../../policy/call.ts';

/** What a client asks; `params` as they came, less what belonged to the hop. */
export interface CallRequest extends Pick<
  Call,
  'session' | 'group' | 'client' | 'cancellation' | 'onProgress' | 'behind' | 'checksArguments'
> {
  readonly params: JsonObject;
  readonly timeoutMs?: number | undefined;
  /** Asked about the tool before it is called; throws to refuse. */
  readonly check?: ((entry: ToolEntry) => void) | undefined;
}

/** Always the same members, which is faster than leaving some out. */
export function callOf(
  caller: Caller,
  operation: Operation,
  request: CallRequest,
  usualTimeoutMs: number,
): Call {
  const { session, group, client, cancellation, onProgress, behind, checksArguments } = request;
  const timeoutMs = request.timeoutMs ?? usualTimeoutMs;
  const hasOwnLimit = request.timeoutMs !== undefined;
  return {
    caller,
    session,
    operation,
    group,
    client,
    cancellation,
    timeoutMs,
    hasOwnLimit,
    onProgress,
    behind,
    checksArguments,
    ends: [],
  };
}
