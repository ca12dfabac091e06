import { dirname, relative } from 'node:path';
import { startApp } from '../../app/app.ts';
import type { App } from '../../app/app.ts';
import { shownConfig } from '../../config/file/inline.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import { jsonLogger } from '../../observe/log.ts';
import { appWorld } from '../app-world.ts';
import type { CliContext } from '../context.ts';
import { logTo } from '../output.ts';
import { ago } from '../ago.ts';
import { servedConfig } from '../served-config.ts';
import { userSocket } from '../line/user-socket.ts';
import { noteWaiting } from '../waiting-note.ts';
import type { ServeOptions } from './serve.ts';

type UpstreamStatus = ReturnType<App['gateway']['status']>[number];

/** How long the list of what is connected waits for slow servers. */
const REPORT_WITHIN_MS = 5000;

/** The gateway in this very process: for the client at our standard input, or for whoever comes over HTTP. */
export async function serveHere(
  options: ServeOptions,
  context: CliContext,
  /** Of the gateway in the background, which cannot be here; servers run where they would there. */
  { isInstead }: { readonly isInstead: boolean },
): Promise<ExitCode> {
  if (options.http !== undefined && options.profile !== undefined)
    throw new GatewayError(
      'USAGE',
      '--profile is for one client; over HTTP a client finds it at /mcp/p/NAME.',
    );
  const config = await servedConfig(options, context);
  const { stderr } = context;
  const app = await startApp({
    ...appWorld(context),
    ...config,
    folder: isInstead ? dirname(config.file) : undefined,
    http: options.http,
    socket:
      options.http !== undefined && options.server === undefined
        ? userSocket(config.stateDir, context)
        : undefined,
    expose: options.expose,
    profile: options.profile,
    onStopSignal: context.onStopSignal,
    logger: (configured) => jsonLogger({ level: options.logLevel ?? configured, write: logTo(stderr) }),
  });
  for (const { file: where, line, column, message } of app.warnings)
    context.out.note(`${where}:${line}:${column}: ${message}`);
  if (app.gateway.status().length === 0)
    context.out.note(`No server can be used; add some to mcpServers in ${shownConfig(config.file)}`);
  if (options.http === undefined) noteWaiting(context);
  if (app.url !== undefined)
    void report(app, app.url, context).then(() => {
      if (options.config !== undefined && options.server === undefined)
        context.out.note(`\nOther commands reach it like this:\n  ${reaching(config.file, context)}`);
    });
  await app.stopped;
  return 0;
}

/** What is connected, where we are, and what to paste into a client. */
async function report(app: App, url: string, context: CliContext): Promise<void> {
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
  for (const line of entrance(auth)) out.note(line);
  await Promise.race([
    app.gateway.discovered,
    new Promise((resolve) => setTimeout(resolve, REPORT_WITHIN_MS).unref()),
  ]);
  const status = app.gateway.status();
  const total = status.reduce((sum, { tools }) => sum + tools, 0);
  const from = status.length === 1 ? '1 server' : `${status.length} servers`;
  out.note(`\n${total} tools from ${from}:`);
  out.noteTable(status.map(describe));
}

/** A command that finds this gateway from another terminal, which may have neither our variables nor a linked program. */
function reaching(file: string, { env, program, cwd }: CliContext): string {
  const near = (path: string): string => {
    const way = relative(cwd, path);
    return shellWord(way.startsWith('..') ? path : way);
  };
  const home = env['TRUNKLINE_HOME'] ?? '';
  const entry = program.at(-1) ?? '';
  return [
    ...(home === '' ? [] : [`TRUNKLINE_HOME=${shellWord(home)}`]),
    relative(cwd, entry).startsWith('..') ? 'trunkline' : `node ${near(entry)}`,
    `dashboard --config ${near(file)}`,
  ].join(' ');
}

/** What clients need to be let in. */
function entrance(auth: App['auth']): readonly string[] {
  if (auth === undefined) return [];
  return [
    ...(auth.keys ? ['\nClients need a key. Make one for each with: trunkline keys add NAME'] : []),
    ...(auth.authorizationServer === undefined
      ? []
      : ['Clients that can sign in with OAuth do so in the browser, with this address alone.']),
    ...(auth.jwt === undefined ? [] : [`Tokens of ${auth.jwt.issuer} are accepted.`]),
    ...(auth.forwarded === undefined
      ? []
      : [`The header ${auth.forwarded.user} is believed from ${auth.forwarded.from.join(', ')}.`]),
  ];
}

function describe(status: UpstreamStatus): readonly string[] {
  const { name, state, tools, prompts, resources, problem, listedAt } = status;
  const counts = [counted(tools, 'tool'), counted(prompts, 'prompt'), counted(resources, 'resource')];
  const offer = counts.filter((count) => count !== undefined).join(', ');
  if (problem === undefined)
    return [`  ${name}`, state, listedAt === undefined && offer === '' ? 'still being listed' : offer];
  const kept =
    listedAt === undefined ? '' : ` Its listing of ${ago(Date.now() - listedAt)} ago is kept: ${offer}.`;
  return [`  ${name}`, state, `${problem.message}${kept}`];
}

function counted(count: number, word: string): string | undefined {
  if (count === 0) return undefined;
  return count === 1 ? `1 ${word}` : `${count} ${word}s`;
}
