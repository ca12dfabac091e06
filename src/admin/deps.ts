import type { KeyRights, StoredKey } from '../auth/downstream/key-store.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import type { ConfigState } from '../config/reload/config-state.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Pause } from '../gateway/operating/pause.ts';
import type { Caller } from '../model/caller.ts';
import type { AuditTrail } from '../observe/audit/audit-trail.ts';
import type { Logger } from '../observe/log.ts';
import type { LogTail } from '../observe/server-log/read-tail.ts';
import type { Registry } from '../registry/registry.ts';
import type { ServerChanges } from '../manage/server-changes.ts';
import type { OtherGateways } from './calling/open-questions.ts';
import type { AdminFleet, AdminStatus } from './contract/contract.ts';
import type { AdminEvent, AdminSessionLink } from './contract/dashboard-contract.ts';
import type { OpenedSession } from './sessions/session-life.ts';
import type { AdminSignIn, AdminSignInStatus } from './contract/sign-in-contract.ts';

/** Everything that the admin API touches. */
export interface AdminDeps {
  readonly gateway: Gateway;
  readonly audit: AuditTrail;
  readonly signIns: SignInAccess;
  readonly keys: KeyAccess;
  readonly browsers: BrowserAccess;
  /** Counts what clients are sent to know the tools. */
  readonly meter: { saved(): Promise<void> };
  readonly pause: Pause;
  readonly management: ManagementAccess;
  /** What is in use now. */
  readonly config: () => ConfigSnapshot;
  /** What follows the configuration file; undefined where nothing does. */
  readonly reload: () => ReloadAccess | undefined;
  /** The gateways on the same database, where there is one for several. */
  readonly fleet: () => AdminFleet | undefined;
  /** Those that can be asked, where there are some. */
  readonly others?: OtherGateways | undefined;
  /** Where another gateway runs this server for us, it restarts it. */
  readonly restartElsewhere: (server: string) => Promise<void>;
  readonly kind: AdminStatus['kind'];
  /** The file that describes these routes. */
  readonly openapi: URL;
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

/** What routes have besides: they tell readers of events what nobody else notices. */
export interface RouteDeps extends AdminDeps {
  readonly tell: (event: AdminEvent) => void;
}

/** How the configuration in use and the file are to each other. */
export interface ReloadAccess {
  readonly state: ConfigState;
  /** Reads the file now; resolves when what it says is in use, or the state says why it is not. */
  look(): Promise<void>;
}

/** Browsers that are signed in to the dashboard. */
export interface BrowserAccess {
  /** For whoever shows the admin key; throws when it is wrong, or too many were. */
  signIn(key: string): Promise<OpenedSession>;
  signOut(id: string): Promise<void>;
  isSignedIn(id: string): boolean;
  /** Sees to it that there is something to open. */
  link(): Promise<AdminSessionLink>;
}

/** Servers of the configuration, for whoever looks after them. */
export interface ManagementAccess {
  /** Whether the servers are in no file, so that nothing can be changed. */
  readonly isFixed: boolean;
  /** Loaded when first asked for. */
  changes(): Promise<ServerChanges>;
  /** How what runs and what is written are to each other. */
  inUse(): Pick<ConfigState, 'problem' | 'needsRestart'>;
  log(
    server: string,
    which: { readonly lines: number; readonly from?: number | undefined },
  ): LogTail & { readonly file: string };
  registry(signal: AbortSignal): Promise<Registry>;
  readonly platform: NodeJS.Platform;
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
