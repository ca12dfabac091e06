import type { KeyRights, StoredKey } from '../auth/downstream/key-store.ts';
import type { SecretStore } from '../auth/upstream/secret-store.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import type { ConfigState } from '../config/reload/config-state.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { PauseState } from '../gateway/control/pause-state.ts';
import type { ConnectedClient } from '../core/connected-client.ts';
import type { Caller } from '../core/caller.ts';
import type { AuditTrail } from '../observability/audit/audit-trail.ts';
import type { Logger } from '../observability/log.ts';
import type { LogTail } from '../observability/server-log/read-log-tail.ts';
import type { RegistryClient } from '../setup/registry/registry-client.ts';
import type { ServerEditor } from '../setup/manage/server-editor.ts';
import type { ReplicaBus } from '../core/replica-bus.ts';
import type {
  AdminDifferingVariable,
  AdminEvent,
  AdminFleet,
  AdminSessionLink,
  AdminSignIn,
  AdminSignInStatus,
  AdminStatus,
} from './contract/contract.ts';
import type { NewBrowserSession } from './sessions/browser-session-store.ts';

/** The dependencies of the admin API. */
export interface AdminDeps {
  readonly gateway: Gateway;
  readonly audit: AuditTrail;
  readonly signIns: SignInAccess;
  readonly secrets: SecretAccess;
  readonly keys: KeyAccess;
  readonly browsers: BrowserAccess;
  /** Counts the tokens that tool lists and searches cost clients. */
  readonly meter: { flush(): Promise<void> };
  readonly pause: PauseState;
  readonly management: ManagementAccess;
  /** Returns the active configuration. */
  readonly config: () => ConfigSnapshot;
  /** Returns the watcher of the configuration file; undefined if the file is not watched. */
  readonly reload: () => ReloadAccess | undefined;
  /** Returns the gateways that share a database; undefined for a single gateway. */
  readonly fleet: () => AdminFleet | undefined;
  /** Sends messages to the other gateways; undefined for a single gateway. */
  readonly replicas?: ReplicaBus | undefined;
  /** Restarts a server on the gateway that runs it for the fleet; does nothing for other servers. */
  readonly restartOnOwner: (server: string) => Promise<void>;
  readonly kind: AdminStatus['kind'];
  /** The location of openapi.json, which describes these routes. */
  readonly openapi: URL;
  readonly version: string;
  readonly pid: number;
  readonly since: number;
  readonly url: () => string | undefined;
  /** Returns the number of connected client sessions. */
  readonly clients: () => number;
  /** The clients of this gateway; `revision` changes when one connects or leaves. */
  readonly connectedClients: { readonly revision: number; list(): readonly ConnectedClient[] };
  /** Returns the variables of which a connected client has another value than the gateway uses. */
  readonly differingVariables: () => readonly AdminDifferingVariable[];
  /** Stops the gateway, as SIGTERM does. */
  readonly stop: () => void;
  readonly log: Logger;
}

/** The dependencies of routes. Routes can also emit events that polling does not detect. */
export interface RouteDeps extends AdminDeps {
  readonly emit: (event: AdminEvent) => void;
}

/** Reports whether the running configuration matches the file, and reloads the file. */
export interface ReloadAccess {
  readonly state: ConfigState;
  /** Reads the file now. Resolves when the configuration is active, or when `state` contains the problem. */
  reload(): Promise<void>;
}

/** Signs browsers in to the dashboard. */
export interface BrowserAccess {
  /** Opens a session with the admin key; throws if the key is wrong. Limits how many wrong keys one address can try. */
  signIn(key: string, remoteAddress: string): Promise<NewBrowserSession>;
  signOut(id: string): Promise<void>;
  isSignedIn(id: string): boolean;
  /** Creates a sign-in link; opens a listener for the dashboard first if there is none. */
  createLink(): Promise<AdminSessionLink>;
}

/** Reads and changes the servers of the configuration. */
export interface ManagementAccess {
  /** Whether the configuration cannot be changed, because it does not come from a file. */
  readonly isFixed: boolean;
  /** Returns the editor of the configuration. Its code is loaded on first use. Rejects if `isFixed`. */
  editor(): Promise<ServerEditor>;
  /** Returns whether the running configuration matches the file. */
  configStatus(): Pick<ConfigState, 'problem' | 'needsRestart'>;
  log(
    server: string,
    which: { readonly lines: number; readonly from?: number | undefined },
  ): LogTail & { readonly file: string };
  registry(signal: AbortSignal): Promise<RegistryClient>;
  readonly platform: NodeJS.Platform;
}

/** Manages the API keys of HTTP callers. */
interface KeyAccess {
  hasProfile(name: string): boolean;
  addKey(
    name: string,
    rights: KeyRights & { readonly expiresAt?: number | undefined },
    by: Caller,
  ): Promise<{ readonly text: string; readonly key: StoredKey }>;
  keys(): Promise<readonly StoredKey[]>;
  revokeKey(name: string, by: Caller): Promise<StoredKey | undefined>;
}

/** A started sign-in, which may have finished. */
export interface SignInFlow {
  readonly state: AdminSignIn;
  readonly isFinished: boolean;
  end(reason: Error): Promise<void>;
}

/** Signs users in to upstream servers. */
interface SignInAccess {
  start(server: string, caller: string, flow?: 'browser' | 'device'): Promise<SignInFlow>;
  find(server: string, caller: string): Promise<SignInFlow | undefined>;
  watch(listener: (state: AdminSignIn) => void): Promise<Disposable>;
  signOut(
    server: string,
    caller: string,
    signal: AbortSignal,
  ): Promise<'revoked' | 'forgotten' | 'not-signed-in'>;
  list(): Promise<readonly AdminSignInStatus[]>;
}

/** Stores and lists secrets. Their values cannot be read through it. */
type SecretAccess = Pick<SecretStore, 'write' | 'list' | 'remove'>;
