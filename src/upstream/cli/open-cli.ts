import type { UpstreamConfig } from '../../config/config.ts';
import type { ResolvedTransport } from '../../config/resolve-transport.ts';
import { RpcClient } from '../../protocol/rpc-client.ts';
import type { OpenTransport } from '../../protocol/client-transport.ts';
import { buildServerEnv } from '../process/build-server-env.ts';
import { classifyConnectError } from '../connecting/upstream-errors.ts';
import { fenceTransport } from '../transport-wrappers.ts';
import { negotiate } from '../connecting/negotiate.ts';
import type { OpenedServer, OpenServerOptions, ServerOpenerDeps } from '../server-opener.ts';
import { CliProgram } from './cli-program.ts';
import { CliServer } from './cli-server.ts';
import { DiscoveryCache } from './discovery-cache.ts';
import { identifyProgram } from './program-identity.ts';
import { parseProgramName } from './program-name.ts';

/** Turns off pagers, colours and prompts, because no person uses the program. */
const UNATTENDED_ENV = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  AWS_PAGER: '',
  TERM: 'dumb',
  NO_COLOR: '1',
  GIT_TERMINAL_PROMPT: '0',
};

const NO_PROCESS = { stderr: [] };

/** Opens a program whose subcommands become tools, through a built-in MCP server. */
export async function openCli(
  deps: ServerOpenerDeps,
  config: UpstreamConfig,
  transport: ResolvedTransport & { kind: 'cli' },
  options: OpenServerOptions,
): Promise<OpenedServer> {
  const path = await deps.searchPath();
  const env = buildServerEnv({ ours: deps.env, path, configured: { ...UNATTENDED_ENV, ...transport.env } });
  const { command, args, cwd, cli } = transport;
  const identity = await identifyProgram({ command, args, path: env['PATH'], cwd: cwd ?? '' });
  if (identity === undefined) {
    const missing = Object.assign(new Error(`spawn ${command} ENOENT`), { code: 'ENOENT', path: command });
    throw classifyConnectError(missing, config.name, NO_PROCESS);
  }
  const now = Date.now;
  const backend = new CliProgram({
    settings: {
      command: identity.path,
      env,
      cwd,
      watchdog: deps.watchdog,
      childRecord: deps.childRecord,
      onStderr: (chunk) => deps.onStderr?.(chunk, config.name),
    },
    args,
    program: parseProgramName(command, config.transport.kind === 'cli' ? config.transport.args : []),
    cli,
    key: {
      config: config.fingerprint,
      version: String(options.identity.info['version']),
      files: identity.files,
    },
    cache: new DiscoveryCache({ stateDir: deps.stateDir, now }),
    log: deps.log.with({ upstream: config.name }),
    now,
  });
  const open: OpenTransport = (events) => Promise.resolve(new CliServer(backend, events));
  const client = await RpcClient.open(fenceTransport(open, options.mayWrite), options.handlers);
  try {
    const { cancellation } = options;
    // The built-in server speaks the legacy protocol, whatever era is configured.
    const facts = await negotiate(client, options.identity, { era: 'legacy', cancellation });
    return { client, facts, processHints: () => Promise.resolve(NO_PROCESS) };
  } catch (error) {
    await client[Symbol.asyncDispose]();
    throw classifyConnectError(error, config.name, NO_PROCESS);
  }
}
