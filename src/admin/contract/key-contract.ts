import type { Tier } from '../../model/tier.ts';

export interface KeyContract {
  /** Keys of callers over HTTP; the key itself is in the answer that makes it, and never again. */
  'GET /api/keys': { answer: readonly AdminKey[] };
  'POST /api/keys': { body: AdminNewKey; answer: AdminKey & { readonly key: string } };
  'POST /api/keys/:name/revoke': { answer: AdminKey };
}

export interface AdminNewKey {
  readonly name: string;
  /** Absent: bound to none. */
  readonly profile?: string;
  readonly tier?: Tier;
  readonly groups?: readonly string[];
  readonly roles?: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
}

export interface AdminKey extends AdminNewKey {
  /** How the key begins; no secret. */
  readonly start: string;
  readonly createdAt: number;
  readonly usedAt?: number;
  /** Whether the running configuration accepts keys. */
  readonly isAccepted: boolean;
}
