import type { Payload } from '../core/lib/payload.ts';
import type { Caller } from '../core/caller.ts';
import type { Entry } from '../core/entry.ts';
import type { JsonObject } from '../core/json.ts';
import type { Tier } from '../core/tier.ts';

export type OperationKind = 'tool' | 'prompt' | 'resource' | 'subscription' | 'completion' | 'other';

/** The unchecked `clientInfo` of a client. */
export type ClientInfo = JsonObject;

/** The span of a call in its trace; ids are hexadecimal. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  readonly isSampled: boolean;
}

/** The part of a call that the audit log and telemetry read. */
export interface ObservedCall {
  readonly caller: Caller;
  readonly operation: {
    readonly kind: OperationKind;
    /** Undefined if the name belongs to no server. */
    readonly upstream?: string | undefined;
    readonly entry?: Entry | undefined;
    readonly method: string;
    readonly params: JsonObject;
  };
  /** Equal for all calls of one script or one client request; undefined for a call on its own. */
  readonly group?: string | undefined;
  readonly client?: ClientInfo | undefined;
  readonly trace?: TraceIds | undefined;
}

/** Computes facts about a call when its record is built, after the client has its response. */
export interface CallFacts {
  tierOf(entry: Entry): Tier | undefined;
  /** Returns the rule that gives the caller access to the entry. */
  ruleOf(caller: Caller, entry: Entry): string;
}

/** An operation that has ended. It is created for every call, so it only refers to existing objects. */
export interface CompletedCall {
  readonly call: ObservedCall;
  /** When the call started, in milliseconds since the epoch. */
  readonly at: number;
  /** The duration in milliseconds. */
  readonly ms: number;
  readonly payload: Payload | undefined;
  readonly error: unknown;
  /** Whether the operation was refused before the guards ran. */
  readonly isRefused: boolean;
  /** The rule that refused the operation, if one did. */
  readonly rule: string | undefined;
  readonly facts: CallFacts;
}
