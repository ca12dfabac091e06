import { join } from 'node:path';
import type { SecretStore } from '../auth/upstream/secret-store.ts';
import { TokenVault } from '../auth/upstream/token-vault.ts';
import { createCredentialsFactory } from '../auth/upstream/upstream-credentials.ts';
import { Catalog } from '../catalog/catalog.ts';
import { ListingCache } from '../catalog/listing-cache.ts';
import type { ConfigSnapshot, UpstreamConfig } from '../config/config.ts';
import { RunningPrograms } from '../config/reference-command.ts';
import { createReferenceReader, resolveReferences } from '../config/resolve-references.ts';
import { resolveTransport } from '../config/resolve-transport.ts';
import type { ReferenceReader } from '../config/resolve-references.ts';
import type { UpstreamName } from '../core/ids.ts';
import { TaskOwnerStore } from '../gateway/calls/task-owner-store.ts';
import { Gateway } from '../gateway/gateway.ts';
import { createListingSource } from '../gateway/listing/listing-source.ts';
import { FailureMemory } from '../gateway/failure-memory.ts';
import type { PauseState } from '../gateway/control/pause-state.ts';
import type { Logger } from '../observability/log.ts';
import type { ServerLogs } from '../observability/server-log/server-logs.ts';
import { heldServerError } from '../policy/approvals/approval-registry.ts';
import type { ApprovalRegistry } from '../policy/approvals/approval-registry.ts';
import type { Guard } from '../policy/guard.ts';
import { createDescriptionOverrides, createToolFilter } from '../policy/tool-settings.ts';
import { createServerOpener } from '../upstream/server-opener.ts';
import type { OpenServer } from '../upstream/server-opener.ts';
import type { ClientIdentity } from '../upstream/connecting/negotiate.ts';
import { ALL_CAPABILITIES, DeclaredCapabilities } from '../upstream/declared-capabilities.ts';
import { UpstreamPool } from '../upstream/upstream-pool.ts';
import { loginPath } from '../upstream/process/login-path.ts';
import { ChildRecord, sweepOrphans } from '../upstream/process/child-record.ts';
import { Watchdog } from '../upstream/process/watchdog.ts';
import { MAX_MESSAGE_BYTES } from './app-options.ts';
import type { AppOptions } from './app-options.ts';
import { loadGuards } from './load-guards.ts';
import { logConnections, openServerLogs } from './open-server-logs.ts';
import { openApprovals, watchApprovals } from './open-approvals.ts';
import type { Foundation } from './open-foundation.ts';
import { openPause } from './open-pause.ts';
import type { Runtime } from './runtime.ts';
import { createSecretStore } from './open-secrets.ts';
import { openReplicaSubscriptions } from './open-replica-subscriptions.ts';
import { openReplicaCoordination } from './fleet/open-replica-coordination.ts';
import { openFleetServers } from './fleet/fleet-servers.ts';
import type { FleetServers } from './fleet/fleet-servers.ts';
import { GatewaySignIns } from '../auth/upstream/gateway-sign-ins.ts';

/** Maximum time for which the first servers wait for the first client, because the gateway tells them what that client supports. */
const FIRST_CLIENT_WAIT_MS = 1000;

/** Maximum time to wait until this replica has assessed a listing that another replica made. */
const REPLICA_LISTING_WAIT_MS = 2000;

export interface BuiltGateway {
  readonly gateway: Gateway;
  readonly signIns: GatewaySignIns;
  readonly secrets: SecretStore;
  readonly pause: PauseState;
  /** Guards from the `guards` setting. */
  readonly guards: readonly Guard[];
  /** Undefined where server output goes to the terminal. */
  readonly serverLogs: ServerLogs | undefined;
  /** Stops accepting requests from other gateways of the fleet; resolves when their pending requests have been answered. */
  readonly leaveFleet: () => Promise<void>;
  /** Restarts a server on the other replica that runs it for the fleet; does nothing if there is none. */
  readonly restartOnOwner: (name: string) => Promise<void>;
  /** Stores the validated configuration, so that the next start need not parse it again. */
  readonly saveForWarmStart: (snapshot: ConfigSnapshot) => void;
}

/** Builds the gateway and everything below it: servers, sign-ins, catalog, approvals, guards. */
export async function buildGateway(
  options: AppOptions,
  runtime: Runtime,
  foundation: Foundation,
): Promise<BuiltGateway> {
  const { snapshot, config } = runtime;
  const { scope, store, fleet } = foundation;
  // Logs, caches and stores.
  const { serverLogs, log, onStderr, onSecrets } = openServerLogs(options, config, foundation);
  const cache = openListingCache(options, foundation, log);
  const saveForWarmStart = (current: ConfigSnapshot): void =>
    cache.rememberConfig({ revision: current.revision, snapshot: current });
  saveForWarmStart(snapshot);
  const references = openReferences(options, snapshot.file, foundation, log);
  const approvals = await openApprovals(options, runtime, { store, log, now: Date.now });
  const vault = openTokenVault(options, foundation, log);
  // The servers, none of which is started yet.
  const fleetServers = fleet && (await openFleetServers(fleet, log));
  const logs = { serverLogs, onStderr, onSecrets, log };
  const parts = { cache, approvals, vault, fleetServers, ...references, ...logs };
  const pool = openPool(options, foundation, parts);
  for (const upstream of snapshot.value.upstreams) pool.add(upstream);
  if (serverLogs !== undefined) logConnections(serverLogs, pool);

  // The gateway with its catalog and guards.
  const catalog = await openCatalog(runtime, foundation, { pool, cache, approvals, log });
  const guards = await loadGuards(snapshot.value.guards, {
    configFile: snapshot.file,
    importModule: options.importModule,
  });
  const pause = openPause(options.stateDir, Date.now, log);
  const gateway = await openGateway(options, runtime, foundation, { ...parts, pool, catalog, guards, pause });

  // Changes that other processes write to the shared stores.
  if (options.listen !== 'none') {
    if (approvals !== undefined) watchApprovals(options, snapshot, { approvals, gateway, scope, log, store });
    store.follow('listings', () => void cache.reload());
    store.follow('sign-ins', () => void vault.handleExternalChange());
  }

  // Operations for the admin API, the reload and the shutdown.
  const upstreams = (): readonly UpstreamConfig[] => runtime.snapshot.value.upstreams;
  const { env, home } = options;
  const { reader } = references;
  const signIns = scope.use(new GatewaySignIns({ upstreams, vault, reader, now: Date.now, env, home }));
  return {
    gateway,
    signIns,
    secrets: references.secrets,
    pause,
    guards,
    serverLogs,
    leaveFleet: async () => fleetServers?.drain(),
    restartOnOwner: async (name) => {
      const upstream = upstreams().find((configured) => configured.name === name);
      if (upstream !== undefined) await fleetServers?.restartOnOwner(upstream);
    },
    saveForWarmStart,
  };
}

/** Opens the store of secrets, and creates the reader that resolves references in the configuration. */
function openReferences(options: AppOptions, configFile: string, foundation: Foundation, log: Logger) {
  const { env, home } = options;
  const running = new RunningPrograms();
  const secrets = createSecretStore(options, { ...foundation, log, running });
  const searchPath = createSearchPath(options);
  const reader = createReferenceReader({ env, home, configFile, secrets, searchPath, running });
  return { secrets, searchPath, running, reader };
}

/** Returns a function that finds the PATH of a login shell once. */
function createSearchPath({ env, stateDir, platform }: AppOptions): () => Promise<string | undefined> {
  let path: Promise<string | undefined> | undefined;
  return () => (path ??= loginPath({ env, stateDir, now: Date.now(), platform }));
}

interface GatewayParts extends Pick<PoolParts, 'cache' | 'reader' | 'approvals' | 'log'> {
  readonly pool: UpstreamPool;
  readonly catalog: Catalog;
  readonly guards: readonly Guard[];
  readonly pause: PauseState;
  readonly serverLogs: ServerLogs | undefined;
}

async function openGateway(
  options: AppOptions,
  runtime: Runtime,
  { scope, store, fleet, telemetry }: Foundation,
  { pool, catalog, cache, reader, approvals, guards, pause, serverLogs, log }: GatewayParts,
): Promise<Gateway> {
  const { snapshot, config } = runtime;
  const hasListing = async (name: UpstreamName): Promise<boolean> => {
    await catalog.settled([name], REPLICA_LISTING_WAIT_MS);
    return catalog.has(name);
  };
  const { shares, listInTurn } = await openReplicaCoordination(options, config, {
    scope,
    store,
    cache,
    has: hasListing,
    log,
  });
  const gateway = scope.use(
    new Gateway({
      config: snapshot.value,
      pool,
      catalog,
      approvals,
      vectors: options.vectors,
      isOperatorReachable: options.socket !== undefined,
      hasSingleClient: options.wrapped !== undefined,
      callObserver: telemetry.callObserver,
      isTracing: telemetry.isTracing,
      pause,
      failures: openFailureMemory(options, scope, serverLogs, log),
      shares,
      listInTurn,
      // The only client of a wrapped server needs no database for its tasks.
      taskOwners: options.wrapped
        ? undefined
        : new TaskOwnerStore({ database: store.database, now: Date.now }),
      subscriptionSync: fleet && (await openReplicaSubscriptions(fleet, config, scope)),
      customGuards: guards,
      resolveSecrets: (text) => resolveRerankKey(text, reader),
      log,
      now: Date.now,
    }),
  );
  runtime.gateway = gateway;
  if (approvals !== undefined) scope.defer(() => approvals.flush());
  return gateway;
}

/** Opens the memory of failures. Servers on the command line belong to no configuration, so their failures are not remembered. */
function openFailureMemory(
  { stateDir }: AppOptions,
  scope: Foundation['scope'],
  serverLogs: ServerLogs | undefined,
  log: Logger,
): FailureMemory | undefined {
  if (serverLogs === undefined) return undefined;
  const mask = (server: string, text: string): string => serverLogs.mask(server, text);
  return scope.use(new FailureMemory(stateDir, { mask, log }));
}

function openListingCache(
  { stateDir, build }: AppOptions,
  { scope, store, start }: Foundation,
  log: Logger,
): ListingCache {
  const { database, isStored } = store;
  return scope.use(
    new ListingCache({ stateDir, build, warm: start.warm, database, isStored, log, now: Date.now }),
  );
}

function openTokenVault(options: AppOptions, { scope, store, key }: Foundation, log: Logger): TokenVault {
  // Only a database server sends notifications, and a gateway without clients does not follow them.
  const hasChangeNotifications = store.place.server !== undefined && options.listen !== 'none';
  const { pid } = options;
  return scope.use(
    new TokenVault({ database: store.database, key, pid, now: Date.now, log, hasChangeNotifications }),
  );
}

interface PoolParts {
  readonly cache: ListingCache;
  readonly reader: ReferenceReader;
  /** Returns the PATH for programs. */
  readonly searchPath: () => Promise<string | undefined>;
  /** The programs that print values. */
  readonly running: RunningPrograms;
  readonly serverLogs: ServerLogs | undefined;
  readonly approvals: ApprovalRegistry | undefined;
  readonly vault: TokenVault;
  /** Servers that run once for the whole fleet; undefined without a fleet. */
  readonly fleetServers: FleetServers | undefined;
  readonly onStderr: Parameters<typeof createServerOpener>[0]['onStderr'];
  readonly onSecrets: Parameters<typeof createServerOpener>[0]['onSecrets'];
  readonly log: Logger;
}

/** Ends servers that an earlier gateway left running, then opens the pool of servers. */
function openPool(options: AppOptions, foundation: Foundation, parts: PoolParts): UpstreamPool {
  const {
    cache,
    reader,
    searchPath,
    running,
    serverLogs,
    approvals,
    fleetServers,
    onStderr,
    onSecrets,
    log,
  } = parts;
  const { env, stateDir, platform } = options;
  const { scope } = foundation;
  const now = Date.now;
  const runDir = join(stateDir, 'run');
  const orphans = sweepOrphans(runDir);
  if (orphans > 0) log.warn('Ended servers that an earlier gateway left behind.', { count: orphans });
  const environment = {
    env,
    resolveTransport: (upstream: UpstreamConfig) => resolveTransport(upstream, reader, options.workingDir),
    searchPath,
  };
  const openHere = createServerOpener({
    ...environment,
    isListed: (upstream) => cache.has(upstream),
    watchdog: scope.use(new Watchdog({ platform })),
    childRecord: new ChildRecord(runDir, options.pid),
    stateDir,
    onStderr,
    onSecrets,
    maskOutput: (server, text) => serverLogs?.mask(server, text) ?? text,
    log,
    maxMessageBytes: MAX_MESSAGE_BYTES,
  });
  const pool = scope.use(
    new UpstreamPool({
      open: unlessHeld(fleetServers?.wrapOpener(openHere) ?? openHere, approvals),
      ...createIdentity(options, foundation),
      eras: cache.eras,
      preflightCheck: async (upstream) => {
        const { preflightCheck } = await import('../upstream/connecting/preflight-check.ts');
        return preflightCheck(upstream, { ...environment, platform });
      },
      credentialsFor: createCredentials(options, parts),
      isRetrying: options.listen !== 'none',
      log,
      now,
    }),
  );
  // Closed before the pool, which waits for the values that these programs print.
  scope.use(running);
  fleetServers?.serve(pool);
  return pool;
}

function createCredentials(
  { env, home }: AppOptions,
  { vault, reader, searchPath, running, log }: PoolParts,
): ReturnType<typeof createCredentialsFactory> {
  return createCredentialsFactory({ vault, reader, env, home, searchPath, running, now: Date.now, log });
}

/** Creates the identity that servers see. The server of `trunkline wrap` sees that of its only client instead. */
function createIdentity(
  { version, wrapped, listen }: AppOptions,
  { scope, store }: Foundation,
): { readonly identity: ClientIdentity; readonly declared?: DeclaredCapabilities } {
  const info = { name: 'trunkline', title: 'Trunkline', version };
  // A gateway does not know the clients of other replicas, and a gateway without a listener has no clients. Both declare all capabilities.
  const knowsAllClients = store.place.server === undefined && listen !== 'none';
  if (wrapped !== undefined || !knowsAllClients) {
    const client = wrapped?.client;
    const capabilities = client?.capabilities ?? ALL_CAPABILITIES;
    return { identity: { info: client?.info ?? info, capabilities, protocol: client?.protocol } };
  }
  const declared = new DeclaredCapabilities(FIRST_CLIENT_WAIT_MS);
  scope.defer(() => declared[Symbol.dispose]());
  const identity = {
    info,
    get capabilities() {
      return declared.capabilities;
    },
    settled: declared.settled,
  };
  return { identity, declared };
}

/** Returns an opener that refuses to start or contact a server that is held for approval. */
function unlessHeld(open: OpenServer, approvals: ApprovalRegistry | undefined): OpenServer {
  return async (upstream, openOptions) => {
    if (approvals !== undefined && !(await approvals.canStart(upstream)))
      throw heldServerError(upstream.name);
    return open(upstream, openOptions);
  };
}

async function openCatalog(
  runtime: Runtime,
  { scope }: Foundation,
  parts: {
    readonly pool: UpstreamPool;
    readonly cache: ListingCache;
    readonly approvals: ApprovalRegistry | undefined;
    readonly log: Logger;
  },
): Promise<Catalog> {
  const { pool, cache, approvals, log } = parts;
  const { upstreams, names } = runtime.snapshot.value;
  const now = Date.now;
  const catalog = scope.use(
    new Catalog({
      source: createListingSource(pool, { now, log }),
      assessor: approvals,
      cache,
      separator: names.separator,
      allows: createToolFilter(upstreams),
      describe: createDescriptionOverrides(upstreams),
      now,
      log,
    }),
  );
  runtime.catalog = catalog;
  await catalog.restore(upstreams);
  return catalog;
}

function resolveRerankKey(text: string, reader: ReferenceReader): Promise<string> {
  return resolveReferences(text, {
    server: 'search.rerank',
    field: 'apiKey',
    read: (reference) => reader.read(reference),
  });
}
