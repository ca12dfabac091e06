import { join } from 'node:path';
import { Catalog } from '../catalog/catalog.ts';
import { ListingCache } from '../catalog/listing-cache.ts';
import type { WarmState } from '../catalog/warm-file.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { referenceReader, revealTransport } from '../config/references.ts';
import { Gateway } from '../gateway/gateway.ts';
import { listingSource } from '../gateway/listing-source.ts';
import type { Scope } from '../lib/scope.ts';
import type { Logger } from '../observe/log.ts';
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

/** What we tell older servers, who are told only once: everything that some client of ours may be able to do. */
const CAN_ASK = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** The gateway and everything below it, created into the scope. */
export async function buildGateway(
  options: AppOptions,
  snapshot: ConfigSnapshot,
  deps: { readonly scope: Scope; readonly log: Logger; readonly warm: WarmState | undefined },
): Promise<Gateway> {
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
  const identity = { info: { name: 'trunkline', title: 'Trunkline', version }, capabilities: CAN_ASK };
  const reader = referenceReader({ env, home: options.home, configFile: snapshot.file });
  let path: Promise<string | undefined> | undefined;
  const open = peerOpener({
    identity,
    env,
    reveal: (upstream) => revealTransport(upstream, reader),
    path: () => (path ??= loginPath({ env, stateDir, now: now(), platform })),
    watchdog,
    record: new ChildRecord(runDir, options.pid),
    log,
    maxMessageBytes: MAX_MESSAGE_BYTES,
  });
  const pool = scope.use(new UpstreamPool({ open, identity, eras: cache.eras, log, now }));
  for (const upstream of config.upstreams) pool.add(upstream);
  const catalog = scope.use(
    new Catalog({
      source: listingSource(pool, { now, log }),
      cache,
      separator: config.names.separator,
      allows: toolLists(config.upstreams),
      now,
      log,
    }),
  );
  await catalog.restore(config.upstreams);
  return scope.use(new Gateway({ config, pool, catalog, vectors: options.vectors, log, now }));
}
