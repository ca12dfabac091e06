import type { AdminServer } from '../../admin/contract/contract.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { onLine } from '../line/on-line.ts';
import { ago } from '../ago.ts';
import { counted, noServers, tellWarnings } from './listing.ts';

export function servers(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  return onLine(
    options,
    context,
    async (line) => {
      const { servers: all, warnings } = await line.client.ask('GET /api/status', {}, line);
      tellWarnings(warnings, context);
      if (context.out.style.format === 'json') context.out.json(all);
      else printServers(all, context, line.config);
      return 0;
    },
    { reach: 'any' },
  );
}

/** Asks them again what they offer; of all of them those that cannot say it make the exit code. */
export function refresh(
  options: GlobalOptions,
  context: CliContext,
  [name]: readonly string[],
): Promise<ExitCode> {
  return onLine(options, context, async ({ client, signal, config }) => {
    const all =
      name === undefined
        ? await context.out.during('Listing all servers', () =>
            client.ask('POST /api/refresh', {}, { signal }),
          )
        : await context.out.during(`Listing ${name}`, async () => [
            await client.ask('POST /api/servers/:name/refresh', { name }, { signal }),
          ]);
    tellServers(all, name, context, config);
    const [failed] = all.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
    return failed === undefined ? 0 : new GatewayError(failed.code, failed.message).traits.exit;
  });
}

export function restart(
  options: GlobalOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  return onLine(options, context, async ({ client, signal, config, to }) => {
    const known = (await client.ask('GET /api/servers', {}, { signal })).find((each) => each.name === name);
    // What is not there, or cannot be started as everybody knows, is told by the answer.
    if (to === 'own' && known?.enabled === true && known.problem === undefined)
      context.out.note(`No gateway is running, so "${name}" is started once, to see whether it can be.`);
    const server = await context.out.during(`Restarting ${name}`, () =>
      client.ask('POST /api/servers/:name/restart', { name }, { signal }),
    );
    tellServers([server], name, context, config);
    return 0;
  });
}

function tellServers(
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
    out.line(noServers(config));
    return;
  }
  const { bold, dim } = out.paint;
  const head = ['server', 'state', 'transport', 'tools', 'listed', 'reached by'].map((text) => ({
    text,
    paint: dim,
  }));
  const sorted = all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const troubles = sorted.map(({ problem }) => problem && inOneLine(troubleOf(problem)));
  // On a terminal what is wrong has no room beside the rest.
  const isBelow = out.style.width !== Infinity;
  const rows = sorted.map((server, at) => [
    { text: server.name, paint: bold },
    { text: server.state, paint: statePaint(server, out.paint) },
    server.transport?.kind ?? '',
    server.listedAt === undefined ? '' : String(server.tools),
    server.listedAt === undefined ? 'never' : `${ago(Date.now() - server.listedAt)} ago`,
    isBelow ? reachedBy(server) : (troubles[at] ?? reachedBy(server)),
  ]);
  out.table([head, ...rows], { drop: [2, 4, 3], ...(isBelow && { below: [undefined, ...troubles] }) });
  out.line(`\n${counted(all.length, 'server')}`);
}

/** With what happens by itself, where something does. */
function troubleOf({ message, retryAt, attempts }: NonNullable<AdminServer['problem']>): string {
  if (attempts === undefined) return message;
  const tried = attempts === 1 ? 'once' : `${attempts} times`;
  if (retryAt === undefined) return `tried ${tried}, again now: ${message}`;
  const seconds = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
  return `tried ${tried}, again in ${seconds} s: ${message}`;
}

function reachedBy({ transport }: AdminServer): string {
  if (transport === undefined) return '';
  return transport.kind === 'http' ? transport.url : [transport.command, ...transport.args].join(' ');
}

function statePaint(
  { state, problem }: AdminServer,
  paint: CliContext['out']['paint'],
): (text: string) => string {
  if (state === 'held') return paint.yellow;
  if (problem !== undefined) return problem.attempts === undefined ? paint.red : paint.yellow;
  return state === 'ready' ? paint.green : paint.dim;
}
