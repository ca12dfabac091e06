import type { Caller } from '../../model/caller.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Tier } from '../../model/tier.ts';
import type { OperationKind } from '../ended-call.ts';
import type { Outcome } from '../outcome.ts';

/** What else is recorded besides operations. */
export const EVENT_KINDS = ['block', 'approval', 'config', 'sign-in', 'key'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** One operation, or one thing that somebody did to the gateway, as it is stored. Absent is what does not apply. */
export interface AuditRecord {
  /** The place in the record; later ones have higher numbers. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Of this operation, unique. */
  readonly request: string;
  /** Equal for what one script or one request of a client caused. */
  readonly group?: string;
  readonly kind: OperationKind | EventKind;
  readonly caller: string;
  readonly via: Caller['via'];
  readonly client?: string;
  readonly clientVersion?: string;
  readonly profile: string;
  readonly server?: string;
  /** The server's own name of the entry; of resources the URI without what may be secret in it. */
  readonly entry?: string;
  readonly tier?: Tier;
  readonly fingerprint?: string;
  readonly outcome: Outcome;
  readonly code?: string;
  readonly ms?: number;
  readonly bytesIn?: number;
  readonly bytesOut?: number;
  /** Estimated, like those below. */
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  readonly rule?: string;
  /** SHA-256 over the arguments in canonical form; its first 32 digits. */
  readonly digest?: string;
  /** Of events: what was done. */
  readonly action?: string;
  /** Only where configured; redacted, and cut where it is long. */
  readonly arguments?: string;
  readonly result?: string;
  /** Of events: more about it, redacted. */
  readonly details?: string;
  /** Where records are chained. */
  readonly hash?: string;
}

/** Something that is no operation: who did what to what. */
export interface AuditEvent {
  readonly kind: EventKind;
  /** In the imperative: `accept`, `refuse`, `add`, `revoke`, `sign-in`, `sign-out`, `reload` … */
  readonly action: string;
  readonly caller: Pick<Caller, 'id' | 'via' | 'profile'>;
  readonly server?: string;
  readonly entry?: string;
  readonly fingerprint?: string;
  readonly outcome?: Outcome;
  readonly code?: string;
  readonly rule?: string;
  readonly details?: JsonObject;
}

/** Conditions that all hold; texts may be globs where that makes sense. */
export interface AuditFilter {
  readonly after?: number;
  readonly before?: number;
  readonly since?: number;
  readonly until?: number;
  readonly kind?: string;
  readonly request?: string;
  readonly group?: string;
  readonly caller?: string;
  readonly via?: string;
  readonly client?: string;
  readonly clientVersion?: string;
  readonly profile?: string;
  readonly server?: string;
  readonly entry?: string;
  readonly tier?: string;
  readonly fingerprint?: string;
  readonly outcome?: string;
  readonly code?: string;
  readonly rule?: string;
  readonly digest?: string;
  readonly action?: string;
  /** Whatever did not end well. */
  readonly errors?: boolean;
  readonly minMs?: number;
}

/** A filter with what names in it were found to stand for. */
export interface AuditConditions extends AuditFilter {
  /** Servers and their own names of entries that are wanted as well as those that a glob in `entry` matches. */
  readonly others?: readonly (readonly [server: string, entry: string])[];
}

export interface AuditQuery extends AuditConditions {
  readonly limit: number;
  /** `asc` gives the oldest that match, `desc` the newest; both in the order of their numbers, as asked. */
  readonly order: 'asc' | 'desc';
}
