import { dirname, join, relative, resolve } from 'node:path';
import { startApp } from '../../app/app.ts';
import type { App } from '../../app/app.ts';
import type { AppOptions } from '../../app/app-options.ts';
import { resolveLocations, resolveStateDir } from '../../config/find-config.ts';
import { formatConfigName } from '../../config/file/inline-config.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import { createJsonLogger } from '../../observability/log.ts';
import { toAppEnvironment } from '../app-environment.ts';
import type { CliContext } from '../context.ts';
import { createLogWriter } from '../output.ts';
import { formatElapsed } from '../format-elapsed.ts';
import { locateConfig } from '../locate-config.ts';
import { parseServerFlags } from '../parse-server-flags.ts';
import { createUserSocketPath } from '../gateway-client/user-socket-path.ts';
import { noteWaitingForClient } from '../note-waiting-for-client.ts';
import type { ServeOptions } from './serve.ts';

type UpstreamStatus = ReturnType<App['gateway']['status']>[number];

/** The maximum time that the startup report waits for servers to list their tools. A busy machine starts ten servers in about this time. */
const REPORT_TIMEOUT_MS = 15_000;

/** Runs the gateway in this process, for the client on standard input or for clients over HTTP. */
export async function serveInProcess(
  options: ServeOptions,
  context: CliContext,
  /** Whether this replaces a background gateway that cannot be used. Servers then start in the folder that it would have used. */
  { isFallback }: { readonly isFallback: boolean },
): Promise<ExitCode> {
  if (options.http !== undefined && options.profile !== undefined)
    throw new GatewayError(
      'USAGE',
      '--profile cannot be combined with --http. Over HTTP, clients choose a profile with the path /mcp/p/NAME.',
    );
  const config = await resolveServedConfig(options, context);
  const { stderr } = context;
  const app = await startApp({
    ...toAppEnvironment(context),
    ...config,
    workingDir: isFallback ? dirname(config.file) : undefined,
    http: options.http,
    socket:
      options.http !== undefined && options.server === undefined
        ? createUserSocketPath(config.stateDir, context)
        : undefined,
    expose: options.expose,
    profile: options.profile,
    onStopSignal: context.onStopSignal,
    logger: (configured) =>
      createJsonLogger({ level: options.logLevel ?? configured, write: createLogWriter(stderr) }),
  });
  for (const { file: where, line, column, message } of app.warnings)
    context.out.note(`${where}:${line}:${column}: ${message}`);
  if (app.gateway.status().length === 0)
    context.out.note(`No server can be used. Add servers to mcpServers in ${formatConfigName(config.file)}`);
  if (options.http === undefined) noteWaitingForClient(context);
  if (app.url !== undefined)
    void printReport(app, app.url, context).then(() => {
      if (options.config !== undefined && options.server === undefined)
        context.out.note(
          `\nOther commands reach it like this:\n  ${formatReachCommand(config.file, context)}`,
        );
    });
  await app.stopped;
  context.limitFlush();
  return 0;
}

/** Returns the configuration, the servers given with `--server`, or both if `--config` is given as well. */
async function resolveServedConfig(
  options: ServeOptions,
  context: CliContext,
): Promise<
  Pick<AppOptions, 'file' | 'text' | 'isTextFromEnvironment' | 'stateDir' | 'servers' | 'trustDir'>
> {
  if (options.server === undefined) {
    const { file, stateDir, trustDir, text, isTextFromEnvironment } = await locateConfig(
      options.config,
      context,
    );
    return { file, stateDir, trustDir, text, isTextFromEnvironment };
  }
  const servers = parseServerFlags(options.server, context.cwd);
  const hasFile = options.config !== undefined;
  const file = hasFile ? resolve(context.cwd, options.config) : join(context.cwd, 'command-line');
  const stateDir = resolveStateDir(file, resolveLocations(context), servers);
  return { file, stateDir, servers, text: hasFile ? undefined : '{}' };
}

/** Prints the address, the entry to paste into a client, and the connected servers. */
async function printReport(app: App, url: string, context: CliContext): Promise<void> {
  const { out } = context;
  out.note(`Trunkline ${context.version} listens at ${url}`);
  const { auth } = app;
  out.note('\nPaste into the configuration of your MCP client:');
  const key = auth?.keys === true ? `,\n    "headers": { "Authorization": "Bearer KEY" }` : '';
  out.note(
    key === ''
      ? `"mcpServers": {\n  "trunkline": { "type": "http", "url": "${url}" }\n}`
      : `"mcpServers": {\n  "trunkline": {\n    "type": "http",\n    "url": "${url}"${key}\n  }\n}`,
  );
  for (const line of formatAuthNotes(auth)) out.note(line);
  await Promise.race([
    app.gateway.firstListing,
    new Promise((resolve) => setTimeout(resolve, REPORT_TIMEOUT_MS).unref()),
  ]);
  const status = app.gateway.status();
  const total = status.reduce((sum, { tools }) => sum + tools, 0);
  const from = status.length === 1 ? '1 server' : `${status.length} servers`;
  out.note(`\n${total} tools from ${from}:`);
  out.noteTable(status.map(toServerRow));
}

/** Formats a command that reaches this gateway from another terminal, where TRUNKLINE_HOME may be unset and the program not installed. */
function formatReachCommand(file: string, { env, program, cwd }: CliContext): string {
  const near = (path: string): string => {
    const way = relative(cwd, path);
    return quoteShellWord(way.startsWith('..') ? path : way);
  };
  const home = env['TRUNKLINE_HOME'] ?? '';
  const entry = program.at(-1) ?? '';
  return [
    ...(home === '' ? [] : [`TRUNKLINE_HOME=${quoteShellWord(home)}`]),
    relative(cwd, entry).startsWith('..') ? 'trunkline' : `node ${near(entry)}`,
    `dashboard --config ${near(file)}`,
  ].join(' ');
}

/** Explains how clients authenticate. */
function formatAuthNotes(auth: App['auth']): readonly string[] {
  if (auth === undefined) return [];
  return [
    ...(auth.keys ? ['\nClients need a key. Create one per client with: trunkline keys add NAME'] : []),
    ...(auth.authorizationServer === undefined
      ? []
      : ['Clients with OAuth support need only this address and sign in with the browser.']),
    ...(auth.jwt === undefined ? [] : [`Tokens of ${auth.jwt.issuer} are accepted.`]),
    ...(auth.forwarded === undefined
      ? []
      : [`The header ${auth.forwarded.user} is trusted from ${auth.forwarded.from.join(', ')}.`]),
  ];
}

function toServerRow(status: UpstreamStatus): readonly string[] {
  const { name, state, tools, prompts, resources, problem, listedAt } = status;
  const counts = [
    formatNonZeroCount(tools, 'tool'),
    formatNonZeroCount(prompts, 'prompt'),
    formatNonZeroCount(resources, 'resource'),
  ];
  const offer = counts.filter((count) => count !== undefined).join(', ');
  if (problem === undefined)
    return [`  ${name}`, state, listedAt === undefined && offer === '' ? describeUnlisted(state) : offer];
  const listing =
    listedAt === undefined
      ? ''
      : ` Its listing of ${formatElapsed(Date.now() - listedAt)} ago is still used: ${offer}.`;
  return [`  ${name}`, state, `${problem.message}${listing}`];
}

function describeUnlisted(state: UpstreamStatus['state']): string {
  return state === 'installing'
    ? 'its tools are fetched once it is installed'
    : 'its tools are being fetched';
}

function formatNonZeroCount(count: number, word: string): string | undefined {
  if (count === 0) return undefined;
  return count === 1 ? `1 ${word}` : `${count} ${word}s`;
}
