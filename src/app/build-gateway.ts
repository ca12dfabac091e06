import { join } from 'node:path';
import type { KeySource } from '../auth/upstream/sealing/secret-key.ts';
import { Catalog } from '../catalog/catalog.ts';
import { ListingCache } from '../catalog/listing-cache.ts';
import type { WarmState } from '../catalog/warm-file.ts';
import type { ConfigSnapshot, UpstreamConfig } from '../config/config.ts';
import { referenceReader, reveal, revealTransport } from '../config/references.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { Gateway } from '../gateway/gateway.ts';
import { listingSource } from '../gateway/listing/listing-source.ts';
import type { Pause } from '../gateway/operating/pause.ts';
import type { Scope } from '../lib/scope.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { Logger } from '../observe/log.ts';
import type { ServerLogs } from '../observe/server-log/server-logs.ts';
import { heldServer } from '../policy/approvals/approvals.ts';
import type { Guard } from '../policy/call.ts';
import { descriptions } from '../policy/describe.ts';
import { toolLists } from '../policy/tool-lists.ts';
import { loginPath } from '../upstream/process/login-path.ts';
import { peerOpener } from '../upstream/open-peer.ts';
import { ChildRecord, sweepOrphans } from '../upstream/process/orphans.ts';
import { UpstreamPool } from '../upstream/sharing/pool.ts';
import { Watchdog } from '../upstream/process/watchdog.ts';
import { MAX_MESSAGE_BYTES } from './app-options.ts';
import type { AppOptions } from './app-options.ts';
import { loadGuards } from './load-guards.ts';
import { openApprovals, watchApprovals } from './open-approvals.ts';
import { noteConnections, openServerLogs } from './managing/open-server-logs.ts';
import type { Store } from './open-store.ts';
import type { Telemetry } from './open-telemetry.ts';
import { pauseOf } from './pause-of.ts';
import { mirrorSubscriptions } from './sessions/mirror-subscriptions.ts';
import { openSharing } from './sharing/open-sharing.ts';
import { serverSharing } from './sharing/server-sharing.ts';
import { GatewaySignIns } from './signing-in/gateway-sign-ins.ts';
import { credentialsFor, openVault } from './signing-in/upstream-credentials.ts';

/** What we tell older servers, who are told only once: everything that some client of ours may be able to do. */
const CAN_ASK = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
  // Servers with pages for MCP Apps offer them only to whom can show them, and a client of ours may.
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};

/** What another gateway listed is judged before it counts. */
const TAKEN_OVER_MS = 2000;

interface BuiltGateway {
  readonly gateway: Gateway;
  readonly signIns: GatewaySignIns;
  readonly pause: Pause;
  readonly guards: readonly Guard[];
  /** Absent where nothing is logged of servers. */
  readonly serverLogs: ServerLogs | undefined;
  /** Nothing more is done for other gateways; resolves when what was begun is answered. */
  readonly leave: () => Promise<void>;
  /** Where another gateway runs this server, it restarts it. */
  readonly restartElsewhere: (name: string) => Promise<void>;
  /** For the next warm start. */
  readonly remember: (snapshot: ConfigSnapshot) => void;
}

/** The gateway and everything below it, created into the scope. */
export async function buildGateway(
  options: AppOptions,
  current: () => ConfigSnapshot,
  deps: {
    readonly scope: Scope;
    readonly log: Logger;
    readonly warm: WarmState | undefined;
    readonly telemetry: Telemetry;
    readonly store: Store;
    readonly key: KeySource;
    /** Absent where this gateway shares nothing with others. */
    readonly fleet: Fleet | undefined;
  },
): Promise<BuiltGateway> {
  const snapshot = current();
  const { env, stateDir, version, build, platform } = options;
  const { scope, store } = deps;
  const { database } = store;
  const { serverLogs, log, ...hearing } = openServerLogs(options, current, deps);
  const now = Date.now;
  const config = snapshot.value;
  const runDir = join(stateDir, 'run');
  const orphans = sweepOrphans(runDir);
  if (orphans > 0) log.warn('Ended servers that an earlier gateway left behind.', { count: orphans });
  const watchdog = scope.use(new Watchdog({ platform }));
  const cache = scope.use(
    new ListingCache({ stateDir, build, warm: deps.warm, database, isStored: store.isStored, log, now }),
  );
  const remember = (used: ConfigSnapshot): void =>
    cache.rememberConfig({ revision: used.revision, snapshot: used });
  remember(snapshot);
  const ours = { info: { name: 'trunkline', title: 'Trunkline', version }, capabilities: CAN_ASK };
  const identity = { ...ours, ...options.wrapped?.client };
  const reader = referenceReader({ env, home: options.home, configFile: snapshot.file });
  let path: Promise<string | undefined> | undefined;
  const means = {
    env,
    reveal: (upstream: UpstreamConfig) => revealTransport(upstream, reader, options.folder),
    path: () => (path ??= loginPath({ env, stateDir, now: now(), platform })),
  };
  const openedHere = peerOpener({
    ...means,
    identity,
    watchdog,
    record: new ChildRecord(runDir, options.pid),
    stateDir,
    ...hearing,
    log,
    maxMessageBytes: MAX_MESSAGE_BYTES,
  });
  const servers = deps.fleet && (await serverSharing(deps.fleet, log));
  const opened = servers?.opener(openedHere) ?? openedHere;
  const approvals = await openApprovals(options, current, {
    ...{ log, now, database, isStored: store.isStored, catalog: () => catalog },
    isShared: store.place.server !== undefined,
  });
  // Before anything of a server is started or asked.
  const open: typeof opened = async (upstream, how) => {
    if (approvals !== undefined && !(await approvals.mayStart(upstream))) throw heldServer(upstream.name);
    return opened(upstream, how);
  };
  const isFollowed = store.place.server !== undefined && options.listen !== 'nobody';
  const vault = scope.use(openVault(options, { database, key: deps.key, now, log, isFollowed }));
  const pool = scope.use(
    new UpstreamPool({
      ...{ open, identity, eras: cache.eras, log, now },
      foresee: async (upstream) => {
        const { foresee } = await import('../upstream/opening/foresee.ts');
        return foresee(upstream, { ...means, platform });
      },
      credentialsFor: credentialsFor({ vault, reader, env, now, log }),
    }),
  );
  servers?.host(pool);
  for (const upstream of config.upstreams) pool.add(upstream);
  if (serverLogs !== undefined) noteConnections(serverLogs, pool);
  const catalog: Catalog = scope.use(
    new Catalog({
      source: listingSource(pool, { now, log }),
      judge: approvals,
      cache,
      separator: config.names.separator,
      allows: toolLists(config.upstreams),
      describe: descriptions(config.upstreams),
      now,
      log,
    }),
  );
  await catalog.restore(config.upstreams);
  const has = async (name: UpstreamName): Promise<boolean> => {
    await catalog.settled([name], TAKEN_OVER_MS);
    return catalog.has(name);
  };
  const sharing = await openSharing(options, current, {
    ...{ scope, store, cache, has, log },
  });
  const guards = await loadGuards(config.guards, {
    configFile: snapshot.file,
    importModule: options.importModule,
  });
  const pause = pauseOf(stateDir, now);
  const gateway = scope.use(
    new Gateway({
      ...{ config, pool, catalog, approvals, vectors: options.vectors, log, now },
      isReachable: options.socket !== undefined,
      ...{ watch: deps.telemetry.watch, isTracing: deps.telemetry.isTracing },
      isForOne: options.wrapped !== undefined,
      pause,
      ...sharing,
      elsewhere: deps.fleet && (await mirrorSubscriptions(deps.fleet, current, scope)),
      own: guards,
      reveal: (text) =>
        reveal(text, {
          server: 'search.rerank',
          field: 'apiKey',
          read: (reference) => reader.read(reference),
        }),
    }),
  );
  if (approvals !== undefined) {
    scope.defer(() => approvals.flush());
    if (options.listen !== 'nobody')
      watchApprovals(options, snapshot, { approvals, gateway, scope, log, store });
  }
  if (options.listen !== 'nobody') {
    store.follow('listings', () => void cache.look());
    store.follow('sign-ins', () => void vault.look());
  }
  const upstreams = (): ConfigSnapshot['value']['upstreams'] => current().value.upstreams;
  const signIns = scope.use(new GatewaySignIns({ upstreams, vault, reader, now, env, home: options.home }));
  const leave = async (): Promise<void> => servers?.leave();
  const restartElsewhere = async (name: string): Promise<void> => {
    const upstream = upstreams().find((each) => each.name === name);
    if (upstream !== undefined) await servers?.restartElsewhere(upstream);
  };
  return { gateway, signIns, pause, guards, serverLogs, leave, restartElsewhere, remember };
}
