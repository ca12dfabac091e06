import { join } from 'node:path';
import { Catalog } from '../catalog/catalog.ts';
import { ListingCache } from '../catalog/listing-cache.ts';
import type { WarmState } from '../catalog/warm-file.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { referenceReader, reveal, revealTransport } from '../config/references.ts';
import { Gateway } from '../gateway/gateway.ts';
import { listingSource } from '../gateway/listing-source.ts';
import type { Scope } from '../lib/scope.ts';
import type { Logger } from '../observe/log.ts';
import { heldServer } from '../policy/approvals/approvals.ts';
import { descriptions } from '../policy/describe.ts';
import { toolLists } from '../policy/tool-lists.ts';
import { openDatabase } from '../storage/database.ts';
import { LazyDatabase } from '../storage/lazy-database.ts';
import { loginPath } from '../upstream/login-path.ts';
import { peerOpener } from '../upstream/open-peer.ts';
import { ChildRecord, sweepOrphans } from '../upstream/orphans.ts';
import { UpstreamPool } from '../upstream/pool.ts';
import { Watchdog } from '../upstream/watchdog.ts';
import { MAX_MESSAGE_BYTES } from './app-options.ts';
import type { AppOptions } from './app-options.ts';
import { loadGuards } from './load-guards.ts';
import { openApprovals, watchApprovals } from './open-approvals.ts';
import type { Telemetry } from './open-telemetry.ts';
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

/** The gateway and everything below it, created into the scope. */
export async function buildGateway(
  options: AppOptions,
  snapshot: ConfigSnapshot,
  deps: {
    readonly scope: Scope;
    readonly log: Logger;
    readonly warm: WarmState | undefined;
    readonly telemetry: Telemetry;
  },
): Promise<{ readonly gateway: Gateway; readonly signIns: GatewaySignIns }> {
  const { env, stateDir, version, platform } = options;
  const { scope, log } = deps;
  const now = Date.now;
  const config = snapshot.value;
  const runDir = join(stateDir, 'run');
  const orphans = sweepOrphans(runDir);
  if (orphans > 0) log.warn('Ended servers that an earlier gateway left behind.', { count: orphans });
  const watchdog = scope.use(new Watchdog({ platform }));
  const database = scope.use(new LazyDatabase(() => openDatabase({ stateDir, log })));
  const cache = scope.use(
    new ListingCache({ stateDir, version, warm: deps.warm, database: () => database.get(), log, now }),
  );
  cache.rememberConfig({ revision: snapshot.revision, snapshot });
  const ours = { info: { name: 'trunkline', title: 'Trunkline', version }, capabilities: CAN_ASK };
  const identity = { ...ours, ...options.wrapped?.client };
  const reader = referenceReader({ env, home: options.home, configFile: snapshot.file });
  let path: Promise<string | undefined> | undefined;
  const opened = peerOpener({
    identity,
    env,
    reveal: (upstream) => revealTransport(upstream, reader),
    path: () => (path ??= loginPath({ env, stateDir, now: now(), platform })),
    watchdog,
    record: new ChildRecord(runDir, options.pid),
    stateDir,
    onStderr: options.wrapped?.onStderr,
    log,
    maxMessageBytes: MAX_MESSAGE_BYTES,
  });
  const approvals = await openApprovals(options, snapshot, {
    ...{ log, now, database: () => database.get(), catalog: () => catalog },
  });
  // Before anything of a server is started or asked.
  const open: typeof opened = async (upstream, how) => {
    if (approvals !== undefined && !(await approvals.mayStart(upstream))) throw heldServer(upstream.name);
    return opened(upstream, how);
  };
  const vault = openVault(options, { database: () => database.get(), now, log });
  const pool = scope.use(
    new UpstreamPool({
      ...{ open, identity, eras: cache.eras, log, now },
      credentialsFor: credentialsFor({ vault, reader, env, now, log }),
    }),
  );
  for (const upstream of config.upstreams) pool.add(upstream);
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
  const gateway = scope.use(
    new Gateway({
      ...{ config, pool, catalog, approvals, vectors: options.vectors, log, now },
      isReachable: options.socket !== undefined,
      ...{ watch: deps.telemetry.watch, isTracing: deps.telemetry.isTracing },
      isForOne: options.wrapped !== undefined,
      own: await loadGuards(config.guards, snapshot.file),
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
    if (options.listen !== 'nobody') watchApprovals(options, snapshot, { approvals, gateway, scope, log });
  }
  const { upstreams } = config;
  const signIns = scope.use(new GatewaySignIns({ upstreams, vault, reader, now, env, home: options.home }));
  return { gateway, signIns };
}
