import type { UpstreamConfig } from '../config/config.ts';
import type { RevealedTransport } from '../config/references.ts';
import type { Cancellation } from '../lib/cancellation.ts';
import type { Credentials } from '../model/credentials.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { Logger } from '../observe/log.ts';
import type { Era, ServerFacts } from '../model/server-facts.ts';
import { childStream } from '../wire/stdio/child-stdio.ts';
import { Peer } from '../wire/peer.ts';
import type { PeerHandlers } from '../wire/peer.ts';
import { HttpStatusError } from '../wire/stream.ts';
import type { MessageStream, StreamEvents } from '../wire/stream.ts';
import { childEnv } from './process/child-env.ts';
import { classifyConnect } from './opening/classify.ts';
import type { ProcessHints } from './opening/classify.ts';
import { fenced } from './fenced.ts';
import { negotiate } from './opening/negotiate.ts';
import type { ClientIdentity } from './opening/negotiate.ts';
import type { ChildRecord } from './process/orphans.ts';
import { startProcess } from './process/process.ts';
import { tellingUnread } from './process/unread-input.ts';
import { effectiveHeaders, hasAuthorization, headerSource, judgeRefusal } from './refusals.ts';
import { secretValues } from './secret-values.ts';
import type { Watchdog } from './process/watchdog.ts';

export interface Opened {
  readonly peer: Peer;
  readonly facts: ServerFacts;
  readonly pid?: number;
  /** Those that prove us on this connection; absent where the configuration does. */
  readonly credentials?: Credentials | undefined;
  /** Waits a moment for the exit of a process whose pipe has closed, since its code tells more than the pipe. */
  hints(): Promise<ProcessHints>;
}

export type OpenPeer = (
  config: UpstreamConfig,
  options: {
    readonly era: Era | undefined;
    readonly handlers: PeerHandlers;
    readonly cancellation: Cancellation;
    readonly credentials?: Credentials | undefined;
    /** The session that has the server to itself, where one does. */
    readonly session?: string | undefined;
    /** Whether anything may still be written to it, where that can end; by default it cannot. */
    readonly mayWrite?: (() => boolean) | undefined;
  },
) => Promise<Opened>;

export interface OpenPeerDeps {
  readonly identity: ClientIdentity;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The transport with every reference replaced by its value. */
  readonly reveal: (config: UpstreamConfig) => Promise<RevealedTransport>;
  readonly path: () => Promise<string | undefined>;
  readonly watchdog: Watchdog;
  readonly record: ChildRecord;
  /** Where is kept what was found out about programs. */
  readonly stateDir: string;
  /** What servers write to their standard error, for whoever wants to see it. */
  readonly onStderr?: ((chunk: Buffer, server: UpstreamName) => void) | undefined;
  /** The secrets that a server is about to get, for whoever must not repeat them. */
  readonly onSecrets?: ((server: UpstreamName, values: readonly string[]) => void) | undefined;
  readonly log: Logger;
  readonly maxMessageBytes: number;
}

const NO_PROCESS: ProcessHints = { stderr: [] };

/** Opens a connection of the right kind and agrees on the protocol; throws only errors of ours. */
export function peerOpener(deps: OpenPeerDeps): OpenPeer {
  return async (config, options) => {
    const transport = await deps.reveal(config);
    deps.onSecrets?.(config.name, secretValues(config.transport, transport));
    if (transport.kind === 'stdio') return openStdio(deps, config, transport, options);
    if (transport.kind === 'cli') {
      const { openCli } = await import('./cli/open-cli.ts');
      return openCli(deps, config, transport, options);
    }
    const headers = effectiveHeaders(transport.headers);
    const credentials = hasAuthorization(headers) ? undefined : options.credentials;
    for (let repeats = 0; ; repeats++) {
      const since = performance.now();
      try {
        return await openHttp(deps, config, { ...transport, headers }, { ...options, credentials });
      } catch (error) {
        const verdict = await judgeRefusal(error, credentials, { since, repeats });
        if (verdict === undefined) throw classifyConnect(error, config.name, NO_PROCESS);
        if (verdict !== 'try-again') throw verdict.error;
      }
    }
  };
}

async function openStdio(
  deps: OpenPeerDeps,
  config: UpstreamConfig,
  transport: RevealedTransport & { kind: 'stdio' },
  options: Parameters<OpenPeer>[1],
): Promise<Opened> {
  const path = await deps.path();
  const { log } = deps;
  const server = await startProcess({
    command: transport.command,
    args: transport.args,
    env: childEnv({ ours: deps.env, path, configured: transport.env }),
    cwd: transport.cwd,
    watchdog: deps.watchdog,
    record: deps.record,
    onStderr: (chunk) => {
      deps.onStderr?.(chunk, config.name);
      log.debug('Server wrote to standard error.', { upstream: config.name, bytes: chunk.length });
    },
  }).catch((error: unknown) => {
    throw classifyConnect(error, config.name, NO_PROCESS);
  });
  let exit: string | undefined;
  void server.exited.then((how) => (exit = how));
  const hints = async (): Promise<ProcessHints> => {
    if (exit === undefined) await Promise.race([server.exited, pause(100)]);
    // A flood may still be in the pipe, and its end is what matters.
    if (exit !== undefined) await Promise.race([server.stderrEnded, pause(500)]);
    return { ...(exit === undefined ? {} : { exit }), stderr: server.stderr.lines };
  };
  const open = (events: StreamEvents): Promise<MessageStream> =>
    Promise.resolve(
      childStream({
        stdin: server.stdin,
        stdout: server.stdout,
        events,
        maxMessageBytes: deps.maxMessageBytes,
        maxQueuedBytes: deps.maxMessageBytes,
        onTooLong: (bytes) => log.warn('Skipped a line that is too long.', { upstream: config.name, bytes }),
        end: () => server.end(),
      }),
    );
  const telling = tellingUnread(open, () => Promise.race([server.inputLeft, pause(100).then(() => false)]));
  const peer = await Peer.over(fenced(telling, options.mayWrite), options.handlers);
  try {
    return { peer, facts: await negotiated(deps, peer, options), pid: server.pid, hints };
  } catch (error) {
    const known = await hints();
    await peer[Symbol.asyncDispose]();
    // Some servers exit at the first word they do not know. They get a second chance without the probe.
    const diedOfProbe =
      options.era === undefined && known.exit !== undefined && options.cancellation.reason === undefined;
    if (diedOfProbe) return openStdio(deps, config, transport, { ...options, era: 'legacy' });
    throw classifyConnect(error, config.name, known);
  }
}

async function openHttp(
  deps: OpenPeerDeps,
  config: UpstreamConfig,
  transport: RevealedTransport & { kind: 'http' },
  options: Parameters<OpenPeer>[1],
): Promise<Opened> {
  const { cancellation } = options;
  const common = {
    url: transport.url,
    headers: headerSource(transport.headers, options.credentials),
    maxMessageBytes: deps.maxMessageBytes,
    connectTimeoutMs: config.timeouts.connectMs,
  };
  const overSse = async (): Promise<Opened> => {
    const { openSseStream } = await import('../wire/http/sse-client.ts');
    return opened(
      deps,
      await Peer.over(
        fenced((events) => openSseStream({ ...common, cancellation, events }), options.mayWrite),
        options.handlers,
      ),
      {
        ...options,
        era: 'legacy',
      },
    );
  };
  if (transport.flavour === 'sse') return overSse();
  const { openHttpStream } = await import('../wire/http/http-client.ts');
  const peer = await Peer.over(
    fenced((events) => Promise.resolve(openHttpStream({ ...common, events })), options.mayWrite),
    options.handlers,
  );
  try {
    return await opened(deps, peer, options);
  } catch (error) {
    const mayBeSse =
      transport.flavour === 'auto' &&
      error instanceof HttpStatusError &&
      [400, 404, 405, 406, 415].includes(error.status);
    if (!mayBeSse) throw error;
    return overSse().catch(() => {
      throw error; // What the newer transport was told is the better reason.
    });
  }
}

async function opened(deps: OpenPeerDeps, peer: Peer, options: Parameters<OpenPeer>[1]): Promise<Opened> {
  try {
    const facts = await negotiated(deps, peer, options);
    return { peer, facts, credentials: options.credentials, hints: () => Promise.resolve(NO_PROCESS) };
  } catch (error) {
    await peer[Symbol.asyncDispose]();
    throw error;
  }
}

function negotiated(deps: OpenPeerDeps, peer: Peer, options: Parameters<OpenPeer>[1]): Promise<ServerFacts> {
  return negotiate(peer, deps.identity, { era: options.era, cancellation: options.cancellation });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
