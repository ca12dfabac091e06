import type { AdminServer } from '../../admin/contract/contract.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { toOneLine } from '../sanitize.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import { formatElapsed } from '../format-elapsed.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import { formatNoServersHelp, reportWarnings } from './list-command.ts';

export function runServers(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  return withGateway(
    options,
    context,
    async (gateway) => {
      const { servers: all, warnings } = await gateway.client.request('GET /api/status', {}, gateway);
      reportWarnings(warnings, context);
      if (context.out.style.format === 'json') context.out.json(all);
      else await context.out.paged(() => printServers(all, context, gateway.config));
      return 0;
    },
    { gateway: 'any' },
  );
}

/** Fetches the lists of all servers, or of one, again. If that fails for a server, its error decides the exit code. */
export function runRefresh(
  options: GlobalOptions,
  context: CliContext,
  [name]: readonly string[],
): Promise<ExitCode> {
  return withGateway(options, context, async ({ client, signal, config }) => {
    const all =
      name === undefined
        ? await context.out.withProgress('Fetching the tools of all servers', () =>
            client.request('POST /api/refresh', {}, { signal }),
          )
        : await context.out.withProgress(`Fetching the tools of ${name}`, async () => [
            await client.request('POST /api/servers/:name/refresh', { name }, { signal }),
          ]);
    printServerList(all, name, context, config);
    const [failed] = all.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
    return failed === undefined ? 0 : new GatewayError(failed.code, failed.message).traits.exit;
  });
}

/** Restarts a server, or the gateway itself. */
export async function runRestart(
  options: GlobalOptions,
  context: CliContext,
  [name]: readonly string[],
): Promise<ExitCode> {
  if (name === undefined) return (await import('./restart-gateway.ts')).restartGateway(options, context);
  return withGateway(options, context, async ({ client, signal, config, target }) => {
    const known = (await client.request('GET /api/servers', {}, { signal })).find(
      (each) => each.name === name,
    );
    // An unknown or disabled server and known problems need no note, because the response below reports them.
    if (target === 'in-process' && known?.enabled === true && known.problem === undefined)
      context.out.note(`No gateway is running, so "${name}" is only started once to check that it works.`);
    const server = await context.out.withProgress(`Restarting ${name}`, () =>
      client.request('POST /api/servers/:name/restart', { name }, { signal }),
    );
    printServerList([server], name, context, config);
    return 0;
  });
}

function printServerList(
  all: readonly AdminServer[],
  name: string | undefined,
  context: CliContext,
  config: string,
): void {
  if (context.out.style.format === 'text') printServers(all, context, config);
  else context.out.json(name === undefined ? all : all[0]);
}

function printServers(all: readonly AdminServer[], { out }: CliContext, config: string): void {
  if (all.length === 0) {
    out.line(formatNoServersHelp(config));
    return;
  }
  const { bold, dim } = out.paint;
  const head = ['server', 'state', 'transport', 'tools', 'listed', 'command or URL'].map((text) => ({
    text,
    paint: dim,
  }));
  const sorted = all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const problems = sorted.map(({ problem }) => problem && toOneLine(formatProblem(problem)));
  // On a terminal, problems go below the rows, because they are too long for a column.
  const isBelow = out.style.width !== Infinity;
  const rows = sorted.map((server, at) => [
    { text: server.name, paint: bold },
    { text: server.state, paint: selectStatePaint(server, out.paint) },
    server.transport?.kind ?? '',
    server.listedAt === undefined ? '' : String(server.tools),
    server.listedAt === undefined ? 'never' : `${formatElapsed(Date.now() - server.listedAt)} ago`,
    isBelow ? formatTransport(server) : (problems[at] ?? formatTransport(server)),
  ]);
  out.table([head, ...rows], {
    dropOrder: [2, 4, 3],
    hasNameColumn: true,
    hasHeader: true,
    wholeColumns: [1],
    notes: isBelow ? [undefined, ...problems] : undefined,
  });
  out.line(`\n${formatCount(all.length, 'server')}`);
}

/** Adds the number of attempts and the time until the next one, if the gateway retries. */
function formatProblem({ message, retryAt, attempts }: NonNullable<AdminServer['problem']>): string {
  if (attempts === undefined) return message;
  const failures = attempts === 1 ? 'once' : `${attempts} times`;
  if (retryAt === undefined) return `failed ${failures}, retrying now: ${message}`;
  const seconds = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
  return `failed ${failures}, next attempt in ${seconds} s: ${message}`;
}

function formatTransport({ transport }: AdminServer): string {
  if (transport === undefined) return '';
  return transport.kind === 'http' ? transport.url : [transport.command, ...transport.args].join(' ');
}

function selectStatePaint(
  { state, problem }: AdminServer,
  paint: CliContext['out']['paint'],
): (text: string) => string {
  if (state === 'held') return paint.yellow;
  if (problem !== undefined) return problem.attempts === undefined ? paint.red : paint.yellow;
  return state === 'ready' ? paint.green : paint.dim;
}
