import { startApp } from '../../app/app.ts';
import type { App } from '../../app/app.ts';
import { createStarterConfig, findConfig, locations, stateDirOf } from '../../config/paths.ts';
import { isTrusted } from '../../config/trust.ts';
import type { ExitCode } from '../../model/errors.ts';
import { jsonLogger } from '../../observe/log.ts';
import type { LogLevel } from '../../observe/log.ts';
import type { CliContext } from '../context.ts';
import { columns, logLineForPeople } from '../output.ts';

interface ServeOptions {
  readonly config?: string;
  readonly http?: string | true;
  readonly expose?: 'auto' | 'direct' | 'search';
  readonly logLevel?: LogLevel;
}

type UpstreamStatus = ReturnType<App['gateway']['status']>[number];

/** How long the list of what is connected waits for slow servers. */
const REPORT_WITHIN_MS = 5000;

export async function serve(options: ServeOptions, context: CliContext): Promise<ExitCode> {
  const places = locations(context);
  const { file, from } = await findConfig({
    flag: options.config,
    env: context.env,
    cwd: context.cwd,
    locations: places,
    isTrusted: (project) => isTrusted(project, places.stateDir),
  });
  if (from === 'user' && (await createStarterConfig(file))) {
    context.out.note(`Wrote a first configuration to ${file}; add your servers to it.`);
  }
  const { stderr } = context;
  const write = (line: string): void =>
    void stderr.write(stderr.isTTY === true ? logLineForPeople(line) : line);
  const app = await startApp({
    file,
    stateDir: stateDirOf(file, places),
    http: options.http,
    expose: options.expose,
    logger: (configured) => jsonLogger({ level: options.logLevel ?? configured, write }),
    env: context.env,
    home: context.home,
    platform: context.platform,
    pid: context.pid,
    version: context.version,
    vectors: context.vectors,
    stdin: context.stdin,
    stdout: context.stdout,
  });
  context.onStopSignal(() => app.stop());
  for (const { file: where, line, column, message } of app.warnings)
    context.out.note(`${where}:${line}:${column}: ${message}`);
  if (app.gateway.status().length === 0)
    context.out.note(`No server can be used; add some to mcpServers in ${file}`);
  if (app.url !== undefined) void report(app, app.url, context);
  await app.stopped;
  return 0;
}

/** What is connected, where we are, and what to paste into a client. */
async function report(app: App, url: string, context: CliContext): Promise<void> {
  const { out } = context;
  out.note(`Trunkline ${context.version} listens at ${url}`);
  out.note('\nPaste into the configuration of your MCP client:');
  out.note(`"mcpServers": {\n  "trunkline": { "type": "http", "url": "${url}" }\n}`);
  await Promise.race([
    app.gateway.discovered,
    new Promise((resolve) => setTimeout(resolve, REPORT_WITHIN_MS).unref()),
  ]);
  const status = app.gateway.status();
  const total = status.reduce((sum, { tools }) => sum + tools, 0);
  const from = status.length === 1 ? '1 server' : `${status.length} servers`;
  out.note(`\n${total} tools from ${from}:`);
  for (const line of columns(status.map(describe))) out.note(line);
}

function describe(status: UpstreamStatus): readonly string[] {
  const { name, state, tools, prompts, resources, problem, listedAt } = status;
  const counts = [counted(tools, 'tool'), counted(prompts, 'prompt'), counted(resources, 'resource')];
  const offer = counts.filter((count) => count !== undefined).join(', ');
  if (problem === undefined) return [`  ${name}`, state, offer];
  const kept =
    listedAt === undefined ? '' : ` Its listing of ${ago(Date.now() - listedAt)} ago is kept: ${offer}.`;
  return [`  ${name}`, state, `${problem.message}${kept}`];
}

function ago(ms: number): string {
  const seconds = Math.round(Math.max(0, ms) / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  const hours = Math.round(seconds / 3600);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

function counted(count: number, word: string): string | undefined {
  if (count === 0) return undefined;
  return count === 1 ? `1 ${word}` : `${count} ${word}s`;
}
