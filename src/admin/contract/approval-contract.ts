import type { HeldReason } from '../../model/held.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Tier } from '../../model/tier.ts';

/** Everything that waits for a person. */
export interface AdminApprovals {
  readonly held: readonly AdminHeld[];
  readonly calls: readonly AdminWaitingCall[];
  /** The lockfile that decides, where there is one. */
  readonly lock?: string;
}

export type AdminApprovalKind = 'server' | 'words' | 'tool' | 'prompt';

/** Names one thing and the bytes of it that were looked at. */
export interface AdminNamed {
  readonly server: string;
  readonly kind: AdminApprovalKind;
  /** The server's own; empty for the server itself and for its words. */
  readonly name: string;
  readonly fingerprint: string;
}

export interface AdminHeld extends AdminNamed {
  /** As clients would see it. */
  readonly exposed?: string;
  readonly reason: HeldReason;
  /** As it is offered now. */
  readonly offered: JsonObject;
  readonly approved?: { readonly fingerprint: string; readonly definition: JsonObject };
  /** From what was approved to what is offered, with characters that do not show made visible. */
  readonly changes: readonly AdminChange[];
  readonly findings: readonly { readonly rule: string; readonly where: string; readonly excerpt: string }[];
}

/** One place of a definition; texts are shown as they are, everything else as JSON. */
export interface AdminChange {
  readonly where: string;
  readonly before?: string;
  readonly after?: string;
}

/** A call that a rule wants a person to agree to. */
export interface AdminWaitingCall {
  readonly id: string;
  readonly caller: string;
  readonly profile: string;
  readonly server: string;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly rule: string;
  readonly message?: string;
  readonly since: number;
  readonly until: number;
  /** Whether the client still waits; if not, the same call again finds the decision. */
  readonly isOpen: boolean;
}

/** What a lockfile would say now, and what differs from the one that is there. */
export interface AdminLock {
  readonly file: string;
  readonly exists: boolean;
  readonly text: string;
  readonly entries: number;
  readonly differences: readonly AdminDifference[];
}

export interface AdminDifference {
  readonly server: string;
  readonly kind: AdminApprovalKind;
  readonly name: string;
  readonly difference: 'added' | 'removed' | 'changed';
  readonly changes: readonly AdminChange[];
}

/** Of whom one wants to know what a rule says. */
export interface AdminAsWhom {
  readonly as?: string;
  readonly profile?: string;
  /** Separated by commas, like roles. */
  readonly groups?: string;
  readonly roles?: string;
  readonly tier?: Tier;
}

export interface AdminDecision {
  readonly caller: string;
  readonly profile: string;
  readonly verdict: 'allow' | 'hide' | 'ask';
  /** The rule, profile or tier that decides. */
  readonly rule: string;
  readonly message?: string;
}
