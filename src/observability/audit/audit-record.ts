import type { Caller } from '../../core/caller.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Tier } from '../../core/tier.ts';
import type { OperationKind } from '../completed-call.ts';
import type { Outcome } from '../outcome.ts';

/** Events that are recorded besides operations. */
export const EVENT_KINDS = ['block', 'approval', 'config', 'sign-in', 'key'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** The stored record of an operation or an event. Fields that do not apply are absent. */
export interface AuditRecord {
  /** The position in the audit log; later records have higher numbers. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The unique id of this operation. */
  readonly request: string;
  /** Equal for all operations that one script or one client request caused. */
  readonly group?: string;
  readonly kind: OperationKind | EventKind;
  readonly caller: string;
  readonly via: Caller['via'];
  readonly client?: string;
  readonly clientVersion?: string;
  readonly profile: string;
  readonly server?: string;
  /** The name that the server itself gives the entry; for resources, the URI without parts that may be secret. */
  readonly entry?: string;
  readonly tier?: Tier;
  readonly fingerprint?: string;
  readonly outcome: Outcome;
  readonly code?: string;
  /** The duration in milliseconds. */
  readonly ms?: number;
  /** The size of the arguments as JSON. */
  readonly bytesIn?: number;
  /** The size of the result as JSON. */
  readonly bytesOut?: number;
  /** The estimated tokens of the arguments. */
  readonly tokensIn?: number;
  /** The estimated tokens of the result. */
  readonly tokensOut?: number;
  /** The rule that allowed or refused the operation. */
  readonly rule?: string;
  /** The first 32 hexadecimal digits of the SHA-256 hash of the arguments in canonical form. */
  readonly digest?: string;
  /** Only for events: the action. */
  readonly action?: string;
  /** Only if configured; redacted, and cut to 16,384 characters. */
  readonly arguments?: string;
  /** Only if configured; redacted, and cut to 16,384 characters. */
  readonly result?: string;
  /** Only for events: redacted details as JSON. */
  readonly details?: string;
  /** Only if records are chained. */
  readonly hash?: string;
}

/** An event that is not an operation: an approval, a configuration change, a sign-in and the like. */
export interface AuditEvent {
  readonly kind: EventKind;
  /** A verb: `accept`, `refuse`, `add`, `revoke`, `sign-in`, `sign-out`, `reload` … */
  readonly action: string;
  readonly caller: Pick<Caller, 'id' | 'via' | 'profile'>;
  readonly server?: string;
  readonly entry?: string | undefined;
  readonly fingerprint?: string;
  readonly outcome?: Outcome;
  readonly code?: string | undefined;
  readonly rule?: string;
  readonly details?: JsonObject;
}

/** Returns the event of a secret that was stored or deleted. It names the secret, and never contains its value. */
export function createSecretEvent(
  action: 'store-secret' | 'delete-secret',
  name: string,
  caller: AuditEvent['caller'],
): AuditEvent {
  return { kind: 'config', action, caller, entry: name, outcome: 'ok' };
}

/** Matches the records that meet all conditions. In texts, `*` matches any characters. */
export interface AuditFilter {
  /** Only records with a higher sequence number. */
  readonly after?: number;
  /** Only records with a lower sequence number. */
  readonly before?: number;
  /** Only records from this time on, in milliseconds since the epoch. */
  readonly since?: number;
  /** Only records before this time, in milliseconds since the epoch. */
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
  /** Only records with an outcome other than `ok`. */
  readonly errors?: boolean;
  /** Only records with at least this duration. */
  readonly minMs?: number;
}

/**
 * A filter that also finds entries by their exposed names, although the database stores only the servers' own
 * names.
 */
export interface AuditConditions extends AuditFilter {
  /**
   * The entries whose exposed names match the pattern in `entry`. They match in addition to those whose own
   * names do.
   */
  readonly others?: readonly (readonly [server: string, entry: string])[];
}

export interface AuditQuery extends AuditConditions {
  readonly limit: number;
  /** `asc` returns the oldest matches, oldest first; `desc` the newest, newest first. */
  readonly order: 'asc' | 'desc';
}
