import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { Catalog } from './catalog/catalog.ts';
import { ListingCache } from './catalog/listing-cache.ts';
import { readWarm } from './catalog/warm-file.ts';
import type { WarmState } from './catalog/warm-file.ts';
import type { ConfigSnapshot, ConfigWarning } from './config/config.ts';
import { configRevision, readConfigText } from './config/load.ts';
import { referenceReader, revealTransport } from './config/references.ts';
import { ListTexts } from './downstream/lists.ts';
import { ParkedCalls } from './downstream/parked-calls.ts';
import { servePeer } from './downstream/serve-peer.ts';
import { chooseExposure } from './exposure/choose-exposure.ts';
import { direct } from './exposure/direct.ts';
import { Gateway } from './gateway/gateway.ts';
import type { Served } from './gateway/served.ts';
import { listingSource } from './gateway/listing-source.ts';
import { deferred } from './lib/deferred.ts';
import { Scope } from './lib/scope.ts';
import type { Caller } from './model/caller.ts';
import type { Logger, LogLevel } from './observe/log.ts';
import { toolLists } from './policy/tool-lists.ts';
import { openDatabase } from './storage/database.ts';
import { LazyDatabase } from './storage/lazy-database.ts';
import { loginPath } from './upstream/login-path.ts';
import { peerOpener } from './upstream/open-peer.ts';
import { ChildRecord, sweepOrphans } from './upstream/orphans.ts';
import { UpstreamPool } from './upstream/pool.ts';
import { Watchdog } from './upstream/watchdog.ts';
import { OwnStdio } from './wire/own-stdio.ts';
import type { ClientChannel, Connection } from './wire/serving.ts';

export interface AppOptions {
  readonly file: string;
  readonly stateDir: string;
  /** An address, `true` for the configured one; absent for standard input and output. */
  readonly http: string | true | undefined;
  /** Instead of what the configuration says. */
  readonly expose: 'auto' | 'direct' | 'search' | undefined;
  readonly logger: (configured: LogLevel) => Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly version: string;
  /** The file of word vectors, for searching. */
  readonly vectors: URL;
  readonly stdin: Readable;
  readonly stdout: Writable;
}

export interface App {
  readonly gateway: Gateway;
  /** Where HTTP clients find us. */
  readonly url: string | undefined;
  readonly warnings: readonly ConfigWarning[];
  stop(): void;
  readonly stopped: Promise<void>;
}

/** What listens for clients: told to stop first, closed when calls have been drained. */
interface Front extends AsyncDisposable {
  readonly url: string | undefined;
  stopAccepting(): void;
  /** Everything that clients wait for has been answered; calls are the gateway's business. */
  drained(): Promise<void>;
}

/** The largest message that a server, or a client on standard input, may send. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/** What we tell older servers, who are told only once: everything that some client of ours may be able to do. */
const CAN_ASK = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** The only place that knows every folder. Builds from the bottom up; stopping is the reverse. */
export async function startApp(options: AppOptions): Promise<App> {
  const { stateDir } = options;
  let isDamaged = false;
  const warm = readWarm(stateDir, options.version, () => (isDamaged = true));
  const snapshot = await loadSnapshot(options, warm);
  const config = snapshot.value;
  const log = options.logger(config.log.level);
  if (isDamaged) log.warn('The catalog of the last run is damaged; starting without it.', { stateDir });
  const scope = new Scope((error) => log.error('Closing failed.', { reason: String(error) }));
  try {
    const gateway = await buildGateway(options, snapshot, { scope, log, warm });
    const ended = deferred<void>();
    const front = scope.use(
      await openFront(options, snapshot, { gateway, log, onEnd: () => ended.resolve() }),
    );
    gateway.start();
    const stopped = ended.promise.then(async () => {
      front.stopAccepting();
      const until = Date.now() + config.shutdownMs;
      await withinMs(front.drained(), config.shutdownMs);
      await gateway.drain(Math.max(0, until - Date.now()));
      await scope[Symbol.asyncDispose]();
    });
    return { gateway, url: front.url, warnings: snapshot.warnings, stop: () => ended.resolve(), stopped };
  } catch (error) {
    await scope[Symbol.asyncDispose]();
    throw error;
  }
}

/** The same text under the same version means the same value, so that a warm start loads no parser and no schema. */
async function loadSnapshot(options: AppOptions, warm: WarmState | undefined): Promise<ConfigSnapshot> {
  const { file, version } = options;
  const text = await readConfigText(file);
  const revision = configRevision(text, version);
  // Our own file of this very version, written from a snapshot; paths in it depend on where the config lies.
  const remembered = warm?.config?.snapshot as ConfigSnapshot | undefined;
  if (warm?.config?.revision === revision && remembered?.file === file) return remembered;
  const { validateConfig } = await import('./config/validate.ts');
  return validateConfig({ file, text, revision });
}

async function buildGateway(
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

async function openFront(
  options: AppOptions,
  snapshot: ConfigSnapshot,
  deps: { readonly gateway: Gateway; readonly log: Logger; readonly onEnd: () => void },
): Promise<Front> {
  const { gateway, log } = deps;
  const { http } = snapshot.value;
  const lists = new ListTexts();
  const parked = new ParkedCalls({ ttlMs: snapshot.value.maxCallMs });
  const { version } = options;
  const { expose } = snapshot.value;
  const exposure = chooseExposure({ ...expose, kind: options.expose ?? expose.kind });
  const connect = (caller: Caller, channel: ClientChannel, served: Served = gateway): Connection =>
    servePeer({
      gateway: served,
      // A server that is served alone looks like itself.
      exposure: served === gateway ? exposure : direct,
      ...{ caller, channel, lists, parked, log, version },
    });
  if (options.http === undefined) {
    const caller: Caller = { id: 'local', via: 'stdio', profile: 'default' };
    const stdio = new OwnStdio({
      stdin: options.stdin,
      stdout: options.stdout,
      connect: (channel) => connect(caller, channel),
      maxMessageBytes: MAX_MESSAGE_BYTES,
      onEnd: deps.onEnd,
    });
    return {
      url: undefined,
      stopAccepting: () => {
        options.stdin.pause();
        parked.close();
      },
      drained: () => stdio.drained(),
      [Symbol.asyncDispose]: () => Promise.resolve(stdio.close()),
    };
  }
  const [{ mcpRoutes }, { listen }, { serverAt }] = await Promise.all([
    import('./downstream/http.ts'),
    import('./downstream/listen.ts'),
    import('./downstream/single-server.ts'),
  ]);
  const routes = mcpRoutes({
    ...http,
    connect: ({ caller, channel, path }) => {
      const server = serverAt(path);
      return connect(caller, channel, server === undefined ? gateway : gateway.alone(server));
    },
    hasServer: (name) => gateway.alone(name) !== undefined,
    log,
    isReady: () => true,
  });
  const listener = await listen({
    address: options.http === true ? http.address : options.http,
    routes,
    log,
  });
  return {
    url: new URL('/mcp', listener.url).href,
    stopAccepting: () => {
      routes.stopAccepting();
      parked.close();
    },
    drained: () => Promise.resolve(),
    [Symbol.asyncDispose]: async () => {
      await routes[Symbol.asyncDispose]();
      await listener.close();
    },
  };
}

function withinMs(promise: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
