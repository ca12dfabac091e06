import type { AdminStatus } from '../../admin/contract/contract.ts';
import { pauseOf } from '../../app/pause-of.ts';
import { shownConfig } from '../../config/file/inline.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { foundConfig } from '../found-config.ts';
import { inOneLine } from '../harmless.ts';
import { SHOWN_KIND } from '../gateway-kind.ts';
import type { ReachedGateway } from '../line/line-to-record.ts';
import { linesToGateways, othersShown } from '../line/lines-to-gateways.ts';
import { counted } from './listing.ts';
import { restartNote } from './restart-note.ts';

/** The gateway of this configuration, whoever started it; nothing is started to find out. */
export async function status(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  const { file, stateDir } = await foundConfig(options.config, context, { isMade: false, isReached: true });
  const [reached, ...others] = await linesToGateways(stateDir);
  if (reached === undefined) {
    // It holds for gateways that are started later, and for commands that do without one.
    const { since } = pauseOf(stateDir, Date.now);
    if (out.style.format === 'json')
      out.json({ running: false, config: file, ...(since !== undefined && { pausedSince: since }) });
    else {
      out.line(`No gateway is running for ${shownConfig(file)}`);
      tellPaused(since, context);
    }
    return 0;
  }
  const found = await reached.line.client.ask('GET /api/status', {});
  const { socket } = reached.record;
  if (out.style.format === 'json') out.json({ running: true, ...found, socket, ...othersShown(others) });
  else print(found, { socket, others }, context);
  return 0;
}

function print(
  found: AdminStatus,
  { socket, others }: { readonly socket: string; readonly others: readonly ReachedGateway[] },
  context: CliContext,
): void {
  const { out } = context;
  const { bold, dim, red } = out.paint;
  const troubled = found.servers.filter(({ problem }) => problem !== undefined);
  out.line(`${bold(`Trunkline ${found.version}`)} runs ${SHOWN_KIND[found.kind]}, process ${found.pid}`);
  const facts = [
    ['since', new Date(found.since).toLocaleString('sv')],
    ['config', shownConfig(found.config)],
    ...(found.url === undefined ? [] : [['address', found.url]]),
    ['socket', socket],
    ['clients', String(found.clients)],
    ...(found.fleet === undefined ? [] : [['fleet', fleetShown(found.fleet)]]),
    [
      'tools',
      `${found.tools} from ${counted(found.servers.filter(({ enabled }) => enabled).length, 'server')}`,
    ],
  ];
  // A path that is cut leads nowhere.
  out.table(facts, { last: 'wrap' });
  for (const { record } of others)
    out.prose(
      `Another gateway runs ${SHOWN_KIND[record.kind]}, process ${record.pid}${record.url === undefined ? '' : `, at ${record.url}`}; clients and commands find it when this one has ended.`,
    );
  tellPaused(found.pausedSince, context);
  const { servers, entries, calls } = found.held;
  const waiting = [
    ...(servers > 0 ? [counted(servers, 'server')] : []),
    ...(entries > 0
      ? [`${entries} ${entries === 1 ? 'tool, prompt or introduction' : 'tools, prompts or introductions'}`]
      : []),
    ...(calls > 0 ? [counted(calls, 'call')] : []),
  ];
  if (waiting.length > 0)
    out.line(out.paint.yellow(`Waiting for you: ${waiting.join(', ')}; see trunkline approvals`));
  if (found.held.problem !== undefined)
    out.line(red(`Nothing new is approved: approvals cannot be read: ${inOneLine(found.held.problem)}`));
  for (const warning of found.warnings) out.note(warning);
  const { configProblem, needsRestart = [] } = found;
  if (configProblem !== undefined) {
    out.line(red('The configuration file cannot be used as it is now; what it said before is in use:'));
    for (const line of configProblem.message.split('\n')) out.prose(`  ${inOneLine(line)}`);
  }
  if (needsRestart.length > 0) out.line(out.paint.yellow(restartNote(needsRestart)));
  const { dropped = 0, problem } = found.audit ?? {};
  if (dropped > 0)
    out.line(
      red(
        `${counted(dropped, 'operation')} could not be recorded${problem === undefined ? '' : `: ${inOneLine(problem)}`}`,
      ),
    );
  out.table(
    troubled.map(({ name, problem }) => [
      { text: inOneLine(name), paint: problem?.code === 'QUARANTINED' ? out.paint.yellow : red },
      inOneLine(problem?.message ?? ''),
    ]),
    { last: 'wrap', isNamed: true },
  );
  out.line(dim('trunkline servers shows each of them, trunkline stop ends it.'));
}

function tellPaused(since: number | undefined, { out }: CliContext): void {
  if (since === undefined) return;
  const when = new Date(since).toLocaleString('sv');
  out.line(out.paint.yellow(`Paused since ${when}; calls are refused: trunkline resume`));
}

function fleetShown({ replica, address, others, problem }: NonNullable<AdminStatus['fleet']>): string {
  if (problem !== undefined) return inOneLine(problem);
  const who = others.map((one) => `${one.id} at ${one.address}`).join(', ');
  return `${replica} at ${address}, ${others.length === 0 ? 'no other gateway' : `with ${inOneLine(who)}`}`;
}
