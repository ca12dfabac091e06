import type { UpstreamConfig } from '../../config/config.ts';
import type { RevealedTransport } from '../../config/references.ts';
import { Peer } from '../../wire/peer.ts';
import type { MessageStream, StreamEvents } from '../../wire/stream.ts';
import { childEnv } from '../process/child-env.ts';
import { classifyConnect } from '../opening/classify.ts';
import { fenced } from '../fenced.ts';
import { negotiate } from '../opening/negotiate.ts';
import type { Opened, OpenPeer, OpenPeerDeps } from '../open-peer.ts';
import { CliProgram } from './cli-program.ts';
import { CliServer } from './cli-server.ts';
import { DiscoveryCache } from './discovery-cache.ts';
import { identify } from './program-identity.ts';
import { programName } from './program-name.ts';

/** Nobody is there to turn pages, to see colours or to answer a prompt. */
const UNATTENDED = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  AWS_PAGER: '',
  TERM: 'dumb',
  NO_COLOR: '1',
  GIT_TERMINAL_PROMPT: '0',
};

const NO_PROCESS = { stderr: [] };

/** Opens a program whose subcommands are tools: the server at the other end is ours. */
export async function openCli(
  deps: OpenPeerDeps,
  config: UpstreamConfig,
  transport: RevealedTransport & { kind: 'cli' },
  options: Parameters<OpenPeer>[1],
): Promise<Opened> {
  const path = await deps.path();
  const env = childEnv({ ours: deps.env, path, configured: { ...UNATTENDED, ...transport.env } });
  const { command, args, cwd, cli } = transport;
  const identity = await identify({ command, args, path: env['PATH'], cwd: cwd ?? '' });
  if (identity === undefined) {
    const missing = Object.assign(new Error(`spawn ${command} ENOENT`), { code: 'ENOENT', path: command });
    throw classifyConnect(missing, config.name, NO_PROCESS);
  }
  const now = Date.now;
  const backend = new CliProgram({
    setting: {
      ...{ command: identity.path, env, cwd, watchdog: deps.watchdog, record: deps.record },
      onStderr: (chunk) => deps.onStderr?.(chunk, config.name),
    },
    args,
    program: programName(command, config.transport.kind === 'cli' ? config.transport.args : []),
    cli,
    key: {
      config: config.fingerprint,
      version: String(deps.identity.info['version']),
      files: identity.files,
    },
    cache: new DiscoveryCache({ stateDir: deps.stateDir, now }),
    log: deps.log.with({ upstream: config.name }),
    now,
  });
  const open = (events: StreamEvents): Promise<MessageStream> =>
    Promise.resolve(new CliServer(backend, events));
  const peer = await Peer.over(fenced(open, options.mayWrite), options.handlers);
  try {
    const { cancellation } = options;
    // Ours speaks the older protocol, whatever the entry says of eras.
    const facts = await negotiate(peer, deps.identity, { era: 'legacy', cancellation });
    return { peer, facts, hints: () => Promise.resolve(NO_PROCESS) };
  } catch (error) {
    await peer[Symbol.asyncDispose]();
    throw classifyConnect(error, config.name, NO_PROCESS);
  }
}
