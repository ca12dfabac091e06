import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { Entry } from '../model/entry.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tier } from '../model/tier.ts';

export type OperationKind = 'tool' | 'prompt' | 'resource' | 'subscription' | 'completion' | 'other';

/** What a client said of itself; unchecked. */
export type ClientInfo = JsonObject;

/** Where a call belongs in a trace; ids in hexadecimal. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  readonly isSampled: boolean;
}

/** As much of a call as the record needs. */
export interface RecordedCall {
  readonly caller: Caller;
  readonly operation: {
    readonly kind: OperationKind;
    /** Absent where no server is meant by the name. */
    readonly upstream?: string;
    readonly entry?: Entry;
    readonly method: string;
    readonly params: JsonObject;
  };
  readonly group?: string | undefined;
  readonly client?: ClientInfo | undefined;
  readonly trace?: TraceIds | undefined;
}

/** What the record wants to know later, when nobody waits for the answer. */
export interface CallFacts {
  tierOf(entry: Entry): Tier | undefined;
  /** Which rule let the caller have the entry. */
  ruleOf(caller: Caller, entry: Entry): string;
}

/** An operation that is over. It is made on the path of every call, so that it only points at what is there. */
export interface EndedCall {
  readonly call: RecordedCall;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly ms: number;
  readonly payload: Payload | undefined;
  readonly error: unknown;
  /** Whether it never came to the guards. */
  readonly isRefused: boolean;
  /** The rule that refused it, where it was one. */
  readonly rule: string | undefined;
  readonly facts: CallFacts;
}
