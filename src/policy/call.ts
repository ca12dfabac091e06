import type { Cancellation } from '../lib/cancellation.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import type { Entry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { ClientInfo, TraceIds } from '../observe/ended-call.ts';

/** What a client wants of one upstream, already in the upstream's own names. */
export interface Operation {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'completion' | 'other';
  readonly upstream: UpstreamName;
  /** Absent where a request concerns a URI that only the upstream can judge. */
  readonly entry?: Entry;
  readonly method: string;
  readonly params: JsonObject;
  /** Digest of the arguments where `params` has them masked; a permission is good for these alone. */
  readonly given?: string;
  /** Of tools that are our own: answers instead of an upstream. */
  readonly answer?: (call: Call) => Promise<Payload>;
}

export interface Call {
  readonly caller: Caller;
  /** The client session that the call came from; decides which process serves an upstream shared by session. */
  readonly session: string;
  readonly operation: Operation;
  /** Calls with the same one were caused by the same script, or by the same request of a client. */
  readonly group?: string | undefined;
  /** What the client said of itself; unchecked. */
  readonly client?: ClientInfo | undefined;
  readonly cancellation: Cancellation;
  readonly timeoutMs: number;
  /** Whoever makes the call has set that limit, and not the configuration. */
  readonly hasOwnLimit?: boolean | undefined;
  /** Arguments that do not fit the tool's input schema are not sent. */
  readonly checksArguments?: boolean | undefined;
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  /** Whom the upstream may ask. */
  readonly behind?: ClientBehind | undefined;
  /** Where traces are exported. */
  readonly trace?: TraceIds | undefined;
  /** Told when the call is over; guards add themselves. */
  readonly ends: CallEnd[];
}

/** Wants to know that a call is over, however it ended, and changes nothing about it. */
export interface CallEnd {
  over(payload: Payload | undefined, error: unknown): void;
}

export type Next = (call: Call) => Promise<Payload>;
/** One link of the chain around a call. */
export type Guard = (call: Call, next: Next) => Promise<Payload>;
