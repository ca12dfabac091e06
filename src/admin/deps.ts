import type { KeyRights, StoredKey } from '../auth/downstream/key-store.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Caller } from '../model/caller.ts';
import type { AuditTrail } from '../observe/audit/audit-trail.ts';
import type { Logger } from '../observe/log.ts';
import type { AdminStatus } from './contract.ts';
import type { AdminSignIn, AdminSignInStatus } from './sign-in-contract.ts';

/** Everything that the admin API touches. */
export interface AdminDeps {
  readonly gateway: Gateway;
  readonly audit: AuditTrail;
  readonly signIns: SignInAccess;
  readonly keys: KeyAccess;
  readonly config: () => ConfigSnapshot;
  readonly kind: AdminStatus['kind'];
  readonly version: string;
  readonly pid: number;
  readonly since: number;
  readonly url: () => string | undefined;
  /** How many client sessions are connected. */
  readonly clients: () => number;
  /** Asks the gateway to end, as a signal does. */
  readonly stop: () => void;
  readonly log: Logger;
}

/** The keys of callers over HTTP. */
interface KeyAccess {
  hasProfile(name: string): boolean;
  addKey(
    name: string,
    rights: KeyRights & { readonly expiresAt?: number },
    by: Caller,
  ): Promise<{ readonly text: string; readonly key: StoredKey }>;
  keys(): Promise<readonly StoredKey[]>;
  revokeKey(name: string, by: Caller): Promise<StoredKey | undefined>;
}

interface BegunSignIn {
  readonly state: AdminSignIn;
  readonly isOver: boolean;
  end(reason: Error): Promise<void>;
}

/** Signing in to servers of this gateway. */
interface SignInAccess {
  begin(server: string, caller: string, flow?: 'browser' | 'device'): Promise<BegunSignIn>;
  at(server: string, caller: string): Promise<BegunSignIn | undefined>;
  watch(listener: (state: AdminSignIn) => void): Promise<Disposable>;
  signOut(
    server: string,
    caller: string,
    signal: AbortSignal,
  ): Promise<'revoked' | 'forgotten' | 'not-signed-in'>;
  list(): Promise<readonly AdminSignInStatus[]>;
}
