import type { Caller } from '../core/caller.ts';
import type { Entry } from '../core/entry.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { Cancellation } from '../core/lib/cancellation.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { RequestingClient } from '../core/requesting-client.ts';
import type { ClientInfo, TraceIds } from '../observability/completed-call.ts';

/** One link of the chain around a call. A guard calls `next` to continue, or throws or rejects to refuse the call. */
export type Guard = (call: Call, next: Next) => Promise<Payload>;

/** The rest of the chain; the last link sends the call to its upstream. */
export type Next = (call: Call) => Promise<Payload>;

/** A request of a client on its way to one upstream. */
export interface Call {
  readonly caller: Caller;
  /** The client session of the call; it selects the process of an upstream that is shared per session. */
  readonly session: string;
  readonly operation: Operation;
  /** An id that calls of the same script, or of the same client request, have in common. */
  readonly group?: string | undefined;
  /** The name and version that the client reported; they are not verified. */
  readonly client?: ClientInfo | undefined;
  readonly cancellation: Cancellation;
  readonly timeoutMs: number;
  /** Whether the request itself set `timeoutMs`, rather than the configuration. */
  readonly hasRequestTimeout?: boolean | undefined;
  /** Whether arguments that do not match the input schema of the tool are rejected instead of sent. */
  readonly shouldValidateArguments?: boolean | undefined;
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  /** The client that receives questions of the upstream while the call runs. */
  readonly requestingClient?: RequestingClient | undefined;
  /** Set by the trace guard if traces are exported. */
  readonly trace?: TraceIds | undefined;
  /**
   * Listeners for the end of the call. Guards add a listener instead of awaiting the result, because each
   * await would cost a promise.
   */
  readonly endListeners: CallEndListener[];
}

/** The operation that a call performs at its upstream, in the upstream's own names. */
export interface Operation {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'completion' | 'other';
  readonly upstream: UpstreamName;
  /** Absent for a URI that is in no listing, and for methods that concern no entry. */
  readonly entry?: Entry | undefined;
  readonly method: string;
  readonly params: JsonObject;
  /** Digest of the original arguments if those in `params` are masked. An approval applies only to the original arguments. */
  readonly argumentsDigest?: string | undefined;
  /** Answers the call instead of an upstream; used by tools of the gateway itself. */
  readonly handler?: ((call: Call) => Promise<Payload>) | undefined;
}

/** Observes the end of a call without changing its outcome. */
export interface CallEndListener {
  onEnd(payload: Payload | undefined, error: unknown): void;
}
