import { hasAuthorization, omitEmptyAuthorization } from '../config/authorization-header.ts';
import type { UpstreamConfig } from '../config/config.ts';
import { findPackageLauncher } from '../config/package-launcher.ts';
import type { PackageLauncher } from '../config/package-launcher.ts';
import type { ResolvedTransport } from '../config/resolve-transport.ts';
import { stripControls } from '../core/lib/strip-controls.ts';
import type { Cancellation } from '../core/lib/cancellation.ts';
import type { Credentials } from '../core/credentials.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { Logger } from '../observability/log.ts';
import type { Era, ServerFacts } from '../core/server-facts.ts';
import { createChildTransport } from '../protocol/stdio/child-transport.ts';
import { RpcClient } from '../protocol/rpc-client.ts';
import type { RpcClientHandlers } from '../protocol/rpc-client.ts';
import { HttpStatusError } from '../protocol/client-transport.ts';
import type { OpenTransport } from '../protocol/client-transport.ts';
import { buildServerEnv } from './process/build-server-env.ts';
import {
  classifyConnectError,
  explainMissingSecret,
  withMissingFolder,
} from './connecting/upstream-errors.ts';
import type { ProcessHints } from './connecting/upstream-errors.ts';
import { negotiate } from './connecting/negotiate.ts';
import type { ClientIdentity } from './connecting/negotiate.ts';
import type { ChildRecord } from './process/child-record.ts';
import { InstallQueue } from './process/install-queue.ts';
import { startServerProcess } from './process/server-process.ts';
import type { ServerProcess } from './process/server-process.ts';
import { watchActivity } from './process/watch-activity.ts';
import type { Activity } from './process/watch-activity.ts';
import { createHeaderProvider, handleRefusal } from './upstream-auth.ts';
import { listSecretValues } from './secret-values.ts';
import { fenceTransport, reportUnreadRequests } from './transport-wrappers.ts';
import type { Watchdog } from './process/watchdog.ts';

/** A connected server whose protocol has been negotiated. */
export interface OpenedServer {
  readonly client: RpcClient;
  readonly facts: ServerFacts;
  readonly pid?: number;
  /** The credentials of this connection; absent if the configured headers authenticate it. */
  readonly credentials?: Credentials | undefined;
  /** Returns the exit and the last standard error of the process. Waits up to 600 ms, because an exit explains more than a closed pipe. */
  processHints(): Promise<ProcessHints>;
}

export interface OpenServerOptions {
  readonly identity: ClientIdentity;
  readonly era: Era | undefined;
  readonly handlers: RpcClientHandlers;
  readonly cancellation: Cancellation;
  readonly credentials?: Credentials | undefined;
  /** Called while a package launcher installs the server: with `queued` before it waits for its turn, with `working` when it starts and while it is active. */
  readonly onInstall?: ((progress: 'queued' | 'working') => void) | undefined;
  /** The only session that the server serves; absent if it serves several. */
  readonly session?: string | undefined;
  /** Returns false once another gateway may run the server; nothing may be written to it then. */
  readonly mayWrite?: (() => boolean) | undefined;
}

export type OpenServer = (config: UpstreamConfig, options: OpenServerOptions) => Promise<OpenedServer>;

export interface ServerOpenerDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the transport with every reference replaced by its value. */
  readonly resolveTransport: (config: UpstreamConfig) => Promise<ResolvedTransport>;
  /** Whether the tools of the server were fetched before with this configuration. If not, its package launcher probably has to install it. */
  readonly isListed: (config: UpstreamConfig) => boolean;
  /** Returns the PATH for commands. */
  readonly searchPath: () => Promise<string | undefined>;
  readonly watchdog: Watchdog;
  readonly childRecord: ChildRecord;
  /** The folder of `DiscoveryCache`, which stores the commands of command-line programs. */
  readonly stateDir: string;
  /** Receives the standard error of all servers. */
  readonly onStderr?: ((chunk: Buffer, server: UpstreamName) => void) | undefined;
  /** Receives the secrets that a server is about to get, so they can be masked in its output. */
  readonly onSecrets?: ((server: UpstreamName, values: readonly string[]) => void) | undefined;
  /** Masks these secrets in the output that errors quote, because a model may read an error. */
  readonly maskOutput?: ((server: UpstreamName, text: string) => string) | undefined;
  readonly log: Logger;
  readonly maxMessageBytes: number;
}

const NO_PROCESS: ProcessHints = { stderr: [] };
/** A launcher that does nothing for this time is not installing. Package managers pause for up to 10 s before they repeat a download. */
const IDLE_INSTALLER_MS = 20_000;

/** Creates a function that connects to a server over its transport and negotiates the protocol; it throws only GatewayErrors. */
export function createServerOpener(deps: ServerOpenerDeps): OpenServer {
  const installs = new InstallQueue();
  return async (config, options) => {
    const transport = await deps.resolveTransport(config).catch((error: unknown) => {
      throw explainMissingSecret(error, config.name);
    });
    deps.onSecrets?.(config.name, listSecretValues(config.transport, transport));
    if (transport.kind === 'stdio') {
      const launcher = findPackageLauncher(transport.command, transport.args);
      if (launcher === undefined) return openStdio(deps, config, transport, options);
      return openLaunched(deps, config, transport, { ...options, installs, launcher });
    }
    if (transport.kind === 'http') return openHttp(deps, config, transport, options);
    const { openCli } = await import('./cli/open-cli.ts');
    return openCli(deps, config, transport, options);
  };
}

/** Opens a server through a package launcher, after waiting for other installations as `InstallQueue` requires. */
async function openLaunched(
  deps: ServerOpenerDeps,
  config: UpstreamConfig,
  transport: ResolvedTransport & { kind: 'stdio' },
  options: OpenServerOptions & { readonly installs: InstallQueue; readonly launcher: PackageLauncher },
): Promise<OpenedServer> {
  const { installs, launcher, cancellation } = options;
  const isFirstStart = !deps.isListed(config);
  const onInstall = isFirstStart ? options.onInstall : undefined;
  onInstall?.('queued');
  const packageKey = selectPackageWords(launcher, transport.args)?.join(' ') ?? config.name;
  const leave = await installs.enter(packageKey, { isFirstStart, cancellation });
  let gone = Promise.resolve();
  try {
    cancellation.throwIfCancelled();
    const onStart = (server: ServerProcess): void => void (gone = server.gone);
    const opened = await openStdio(deps, config, transport, { ...options, onInstall, onStart });
    gone = Promise.resolve();
    return opened;
  } finally {
    leave(gone);
  }
}

/** Returns the words that identify the package and its launcher; undefined for images, which the container engine pulls only once. */
function selectPackageWords(
  { name, packageAt }: PackageLauncher,
  args: readonly string[],
): readonly string[] | undefined {
  if (packageAt === undefined) return undefined;
  return [name, ...args.slice(0, packageAt + 1).filter((word) => word !== '-y' && word !== '--yes')];
}

interface OpenStdioOptions extends OpenServerOptions {
  /** Present for a package launcher. Called with the process, which must not be killed while it may install packages. */
  readonly onStart?: (server: ServerProcess) => void;
}

async function openStdio(
  deps: ServerOpenerDeps,
  config: UpstreamConfig,
  transport: ResolvedTransport & { kind: 'stdio' },
  options: OpenStdioOptions,
): Promise<OpenedServer> {
  const { name } = config;
  const searchPath = await deps.searchPath();
  const server = await startServerProcess({
    command: transport.command,
    args: transport.args,
    env: buildServerEnv({ ours: deps.env, path: searchPath, configured: transport.env }),
    cwd: transport.cwd,
    watchdog: deps.watchdog,
    childRecord: deps.childRecord,
    isInstaller: options.onStart !== undefined,
    onStderr: (chunk) => {
      deps.onStderr?.(chunk, name);
      deps.log.debug('Server wrote to standard error.', { upstream: name, bytes: chunk.length });
    },
  }).catch((error: unknown) => {
    throw classifyConnectError(withMissingFolder(error, transport.cwd), name, NO_PROCESS);
  });
  const activity = options.onStart && watchInstaller(server, config, options);
  options.onStart?.(server);
  const noise: string[] = [];
  const mask = (line: string): string => deps.maskOutput?.(name, line) ?? line;
  const processHints = trackExit(server, noise, mask);
  const openTransport = fenceTransport(stdioTransport(server, deps, name), options.mayWrite);
  const client = await RpcClient.open(openTransport, reportNoise(deps, name, options.handlers, noise));
  try {
    const facts = await negotiate(client, options.identity, options);
    server.confirmInstalled();
    return { client, facts, pid: server.pid, processHints };
  } catch (error) {
    const isCancelled = options.cancellation.reason !== undefined;
    if (!isCancelled || (activity?.idleMs ?? 0) >= IDLE_INSTALLER_MS) server.confirmInstalled();
    const hints = await processHints();
    await client[Symbol.asyncDispose]();
    // Some servers exit at the first unknown method, such as the `server/discover` that probes the era. They are started again without it.
    const hasExitedOnProbe =
      options.era === undefined && hints.exit !== undefined && options.cancellation.reason === undefined;
    if (hasExitedOnProbe) return await openStdio(deps, config, transport, { ...options, era: 'legacy' });
    throw classifyConnectError(error, name, hints);
  } finally {
    activity?.[Symbol.dispose]();
  }
}

function watchInstaller({ pid }: ServerProcess, config: UpstreamConfig, options: OpenStdioOptions): Activity {
  options.onInstall?.('working');
  return watchActivity(pid, {
    everyMs: Math.min(1000, config.timeouts.connectMs / 4),
    platform: process.platform,
    onActivity: () => options.onInstall?.('working'),
  });
}

/** Returns the function behind `OpenedServer.processHints`. */
function trackExit(
  server: ServerProcess,
  noise: readonly string[],
  mask: (line: string) => string,
): () => Promise<ProcessHints> {
  let exit: string | undefined;
  void server.exited.then((description) => (exit = description));
  return async () => {
    if (exit === undefined) await Promise.race([server.exited, sleep(100)]);
    // The last lines of standard error, which explain the exit, may still be in the pipe.
    if (exit !== undefined) await Promise.race([server.stderrEnded, sleep(500)]);
    const [stdout] = noise;
    return { exit, stderr: server.stderr.lines.map(mask), stdout: stdout && mask(stdout) };
  };
}

/** The number of characters of a line on standard output that the log of the server shows. */
const MAX_NOISE_CHARS = 200;

/** Adds the first line on standard output that is not an MCP message to `noise` and to the log of the server, which masks secrets. */
function reportNoise(
  deps: ServerOpenerDeps,
  name: UpstreamName,
  handlers: RpcClientHandlers,
  noise: string[],
): RpcClientHandlers {
  return {
    onRequest: (...args) => handlers.onRequest(...args),
    onNotification: (...args) => handlers.onNotification(...args),
    onInvalidMessage: (text) => {
      if (noise.length === 0) {
        const line = stripControls(text.slice(0, MAX_NOISE_CHARS)).trim();
        noise.push(line);
        deps.onStderr?.(
          Buffer.from(`Standard output must carry only MCP messages, but the server printed: ${line}\n`),
          name,
        );
      }
      handlers.onInvalidMessage(text);
    },
  };
}

function stdioTransport(server: ServerProcess, deps: ServerOpenerDeps, name: UpstreamName): OpenTransport {
  const open: OpenTransport = (events) =>
    Promise.resolve(
      createChildTransport({
        stdin: server.stdin,
        stdout: server.stdout,
        events,
        maxMessageBytes: deps.maxMessageBytes,
        maxQueuedBytes: deps.maxMessageBytes,
        onTooLong: (bytes) =>
          deps.log.warn('Ignored a message that exceeds the size limit.', { upstream: name, bytes }),
        end: () => server.end(),
      }),
    );
  return reportUnreadRequests(open, () =>
    Promise.race([server.hasUnreadInput, sleep(100).then(() => false)]),
  );
}

async function openHttp(
  deps: ServerOpenerDeps,
  config: UpstreamConfig,
  transport: ResolvedTransport & { kind: 'http' },
  options: OpenServerOptions,
): Promise<OpenedServer> {
  const headers = omitEmptyAuthorization(transport.headers);
  const isFixed = hasAuthorization(headers) && transport.headersHelper === undefined;
  const credentials = isFixed ? undefined : options.credentials;
  for (let repeats = 0; ; repeats++) {
    const since = performance.now();
    try {
      return await connectHttp(deps, config, { ...transport, headers }, { ...options, credentials });
    } catch (error) {
      const outcome = await handleRefusal(error, credentials, { since, repeats });
      if (outcome === undefined) throw classifyConnectError(error, config.name, NO_PROCESS);
      if (outcome !== 'try-again') throw outcome.error;
    }
  }
}

/** Tries streamable HTTP first, and HTTP+SSE if the server answers like one that knows only the older transport. */
async function connectHttp(
  deps: ServerOpenerDeps,
  config: UpstreamConfig,
  transport: ResolvedTransport & { kind: 'http' },
  options: OpenServerOptions,
): Promise<OpenedServer> {
  const { cancellation } = options;
  const common = {
    url: transport.url,
    headers: createHeaderProvider(transport.headers, options.credentials),
    maxMessageBytes: deps.maxMessageBytes,
    connectTimeoutMs: config.timeouts.connectMs,
  };
  const connectSse = async (): Promise<OpenedServer> => {
    const { openSseTransport } = await import('../protocol/http/sse-transport.ts');
    const open: OpenTransport = (events) => openSseTransport({ ...common, cancellation, events });
    return negotiateHttp(deps, open, { ...options, era: 'legacy' });
  };
  if (transport.flavour === 'sse') return connectSse();
  const { openHttpTransport } = await import('../protocol/http/http-transport.ts');
  try {
    return await negotiateHttp(
      deps,
      (events) => Promise.resolve(openHttpTransport({ ...common, events })),
      options,
    );
  } catch (error) {
    const maybeSse =
      transport.flavour === 'auto' &&
      error instanceof HttpStatusError &&
      [400, 404, 405, 406, 415].includes(error.status);
    if (!maybeSse) throw error;
    return connectSse().catch(() => {
      throw error; // The error of the newer transport is more helpful.
    });
  }
}

async function negotiateHttp(
  deps: ServerOpenerDeps,
  open: OpenTransport,
  options: OpenServerOptions,
): Promise<OpenedServer> {
  const client = await RpcClient.open(fenceTransport(open, options.mayWrite), options.handlers);
  try {
    const facts = await negotiate(client, options.identity, options);
    const processHints = (): Promise<ProcessHints> => Promise.resolve(NO_PROCESS);
    return { client, facts, credentials: options.credentials, processHints };
  } catch (error) {
    await client[Symbol.asyncDispose]();
    throw error;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
