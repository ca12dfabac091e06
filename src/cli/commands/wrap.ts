import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startApp } from '../../app/app.ts';
import type { AdHocServer } from '../../config/ad-hoc-config.ts';
import { parseDuration } from '../../config/duration.ts';
import { resolveLocations } from '../../config/find-config.ts';
import { createWrapConfig } from '../../config/wrap-config.ts';
import { GatewayError, errorTable } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import { createJsonLogger } from '../../observability/log.ts';
import type { LogLevel } from '../../observability/log.ts';
import { toAppEnvironment } from '../app-environment.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { readAdHocServer, withHeaderVariables } from '../gateway-client/with-gateway.ts';
import { createLogWriter, createServerOutputWriter } from '../output.ts';

interface WrapOptions extends AdHocOptions {
  readonly logLevel?: LogLevel;
  readonly initTimeout?: string;
  readonly refresh?: boolean;
}

/** Serves one server as if the client had started it. Until the server has started, answers listings from the cache. */
export async function runWrap(options: WrapOptions, context: CliContext): Promise<ExitCode> {
  const server = readAdHocServer(options);
  if (server === undefined)
    throw new GatewayError(
      'USAGE',
      'The server to wrap is missing. Run: trunkline wrap -- COMMAND ARGS…, or: trunkline wrap --url URL',
    );
  const { env } = withHeaderVariables(context, options.header ?? []);
  const initTimeout = readInitTimeout(options);
  noteWaiting(server, context);
  const { readClientDescription } = await import('../../app/read-client-description.ts');
  const { client, stdin } = await readClientDescription(context.stdin);
  const locations = resolveLocations(context);
  const config = createWrapConfig(server, {
    cwd: context.cwd,
    env: context.env,
    locations,
    client,
    initTimeout,
  });
  if (options.refresh === true) await forgetListings(config.stateDir);
  const { stderr } = context;
  const app = await startApp({
    ...toAppEnvironment(context),
    env,
    stdin,
    file: config.file,
    text: config.text,
    stateDir: config.stateDir,
    http: undefined,
    expose: undefined,
    onStopSignal: context.onStopSignal,
    wrapped: { name: config.name, client, onStderr: createServerOutputWriter(stderr) },
    logger: () => createJsonLogger({ level: options.logLevel ?? 'warn', write: createLogWriter(stderr) }),
  });
  if (app.gateway.status().length === 0) {
    app.stop();
    await app.stopped;
    throw new GatewayError('USAGE', app.warnings[0]?.message ?? 'The server cannot be used.');
  }
  // The command fails if the server never started. A server that ends later is not a failure.
  let exit: ExitCode = 0;
  void app.gateway.firstListing.then(() => {
    const [status] = app.gateway.status();
    if (status?.listedAt === undefined && status?.problem !== undefined)
      exit = errorTable[status.problem.code].exit;
  });
  await app.stopped;
  context.limitFlush();
  return exit;
}

/** Returns the time limit as a duration of the configuration; a plain number counts seconds. */
function readInitTimeout({ initTimeout }: WrapOptions): string | undefined {
  if (initTimeout === undefined) return undefined;
  const duration = /^\d+$/.test(initTimeout) ? `${initTimeout}s` : initTimeout;
  if ((parseDuration(duration) ?? 0) > 0) return duration;
  throw new GatewayError(
    'USAGE',
    `--init-timeout "${initTimeout.slice(0, 60)}" is not a duration. Write it as 500ms, 30s or 5m.`,
  );
}

/** Explains at a terminal why nothing happens, and what a client needs to start the command by itself. */
function noteWaiting(server: AdHocServer, { stdin, program, out }: CliContext): void {
  if (stdin.isTTY !== true) return;
  const [command, ...args] = program;
  const words = 'url' in server ? ['--url', server.url] : ['--', server.command, ...server.args];
  const snippet = { mcpServers: { [server.name]: { command, args: [...args, 'wrap', ...words] } } };
  out.note('Waiting for an MCP client on standard input. Press Ctrl-C to stop.');
  out.note('A client starts this command by itself if its configuration has this entry:');
  out.note(JSON.stringify(snippet, null, 2));
}

/** Removes the cached listings, so that the first answer waits for the server. */
async function forgetListings(stateDir: string): Promise<void> {
  for (const file of ['catalog.json', 'trunkline.db', 'trunkline.db-shm', 'trunkline.db-wal'])
    await rm(join(stateDir, file), { force: true });
}
