import type { HeldReason } from '../../core/held.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Tier } from '../../core/tier.ts';

/** Everything that is held for approval. */
export interface AdminApprovals {
  readonly held: readonly AdminHeldItem[];
  readonly calls: readonly AdminHeldCall[];
  /** The lockfile that decides instead of a person, if there is one. */
  readonly lock?: string | undefined;
}

/** The kinds of items that need approval. `words` stands for the title, description and instructions of a server. */
export type AdminApprovalKind = 'server' | 'words' | 'tool' | 'prompt';

/** Identifies an item and the exact version of it that was reviewed. */
export interface AdminItemReference {
  readonly server: string;
  readonly kind: AdminApprovalKind;
  /** The original name on the server; empty if the item is a server or its instructions. */
  readonly name: string;
  readonly fingerprint: string;
}

export interface AdminHeldItem extends AdminItemReference {
  /** The name under which clients would see it. */
  readonly exposed?: string | undefined;
  readonly reason: HeldReason;
  /** The definition that the server offers now. */
  readonly offered: JsonObject;
  readonly approved?: { readonly fingerprint: string; readonly definition: JsonObject } | undefined;
  /** The changes from the approved to the offered definition; invisible characters are escaped. */
  readonly changes: readonly AdminChange[];
  readonly findings: readonly { readonly rule: string; readonly where: string; readonly excerpt: string }[];
}

/** One changed path of a definition. Strings are shown as they are, other values as JSON. */
export interface AdminChange {
  readonly where: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** A call that is held because a rule requires the approval of a person. */
export interface AdminHeldCall {
  readonly id: string;
  readonly caller: string;
  readonly profile: string;
  readonly server: string;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly rule: string;
  readonly message?: string | undefined;
  readonly since: number;
  readonly until: number;
  /** Whether the client still waits for the response. If not, the decision applies when the client repeats the call. */
  readonly isOpen: boolean;
}

/** The lockfile for the current listings, and its differences from the existing one. */
export interface AdminLock {
  readonly file: string;
  readonly exists: boolean;
  readonly text: string;
  readonly entries: number;
  readonly differences: readonly AdminLockDifference[];
  /** The servers whose definitions could not be fetched. Their locked entries stay as they are. */
  readonly missing: readonly { readonly name: string; readonly message: string }[];
}

export interface AdminLockDifference {
  readonly server: string;
  readonly kind: AdminApprovalKind;
  readonly name: string;
  readonly difference: 'added' | 'removed' | 'changed';
  readonly changes: readonly AdminChange[];
}

/** The caller for whom the rules are evaluated. */
export interface AdminCallerQuery {
  readonly as?: string;
  readonly profile?: string;
  /** Comma-separated, like `roles`. */
  readonly groups?: string;
  readonly roles?: string;
  readonly tier?: Tier;
}

export interface AdminDecision {
  readonly caller: string;
  readonly profile: string;
  readonly verdict: 'allow' | 'hide' | 'ask';
  /** The rule, profile or tier that decided. */
  readonly rule: string;
  readonly message?: string | undefined;
}
