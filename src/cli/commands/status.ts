import type { AdminStatus } from '../../admin/contract/contract.ts';
import { openPause } from '../../app/open-pause.ts';
import { formatConfigName } from '../../config/file/inline-config.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { locateConfig } from '../locate-config.ts';
import { toOneLine } from '../sanitize.ts';
import { GATEWAY_KIND_TEXT } from '../gateway-kind.ts';
import type { ReachableGateway } from '../gateway-client/reachable-gateways.ts';
import { findReachableGateways, otherGatewaysToJson } from '../gateway-client/reachable-gateways.ts';
import { listVariableDifferences } from '../gateway-client/list-variable-differences.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import { formatRestartNote } from './format-restart-note.ts';

/** Prints the state of the gateway of this configuration, without starting anything. */
export async function runStatus(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  const { file, text, stateDir } = await locateConfig(options.config, context, {
    canCreate: false,
    isGatewayEnough: true,
  });
  const [gateway, ...others] = await findReachableGateways(stateDir);
  if (gateway === undefined) {
    // The pause also applies to gateways that start later, and to commands without a gateway.
    const { since } = openPause(stateDir, Date.now);
    if (out.style.format === 'json') out.json({ running: false, config: file, pausedSince: since });
    else {
      out.line(`No gateway is running for ${formatConfigName(file)}`);
      printPaused(since, context);
    }
    return 0;
  }
  const found = await gateway.connection.client.request('GET /api/status', {});
  const { socket } = gateway.record;
  if (out.style.format === 'json')
    out.json({ running: true, ...found, socket, ...otherGatewaysToJson(others) });
  else printStatus(found, { socket, others }, context);
  const { differingVariables } = found;
  const differences = await listVariableDifferences(
    gateway.record,
    { file, text, differingVariables },
    context,
  );
  for (const { problem, fix } of differences) out.note(`${problem} ${fix}`);
  return 0;
}

function printStatus(
  found: AdminStatus,
  { socket, others }: { readonly socket: string; readonly others: readonly ReachableGateway[] },
  context: CliContext,
): void {
  const { out } = context;
  out.line(
    `${out.paint.bold(`Trunkline ${found.version}`)} runs ${GATEWAY_KIND_TEXT[found.kind]}, process ${found.pid}`,
  );
  const facts = [
    ['since', new Date(found.since).toLocaleString('sv')],
    ['config', formatConfigName(found.config)],
    ...(found.url === undefined ? [] : [['address', found.url]]),
    ['socket', socket],
    ['clients', String(found.clients)],
    ...(found.fleet === undefined ? [] : [['fleet', formatFleet(found.fleet)]]),
    [
      'tools',
      `${found.tools} from ${formatCount(found.servers.filter(({ enabled }) => enabled).length, 'server')}`,
    ],
  ];
  // Paths are wrapped, because a truncated path is useless.
  out.table(facts, { lastColumn: 'wrap' });
  for (const { record } of others)
    out.prose(
      `Another gateway runs ${GATEWAY_KIND_TEXT[record.kind]}, process ${record.pid}${record.url === undefined ? '' : `, at ${record.url}`}. Clients and commands use it when this one has ended.`,
    );
  printPaused(found.pausedSince, context);
  printHeld(found.held, context);
  for (const warning of found.warnings) out.note(warning);
  printProblems(found, context);
  out.line(out.paint.dim('List the servers with trunkline servers; end the gateway with trunkline stop.'));
}

function printPaused(since: number | undefined, { out }: CliContext): void {
  if (since === undefined) return;
  const time = new Date(since).toLocaleString('sv');
  out.line(out.paint.yellow(`Paused since ${time}: calls are refused. Continue: trunkline resume`));
}

function printHeld({ servers, entries, calls, problem }: AdminStatus['held'], { out }: CliContext): void {
  const held = [
    ...(servers > 0 ? [formatCount(servers, 'server')] : []),
    ...(entries > 0
      ? [`${entries} ${entries === 1 ? 'tool, prompt or server text' : 'tools, prompts or server texts'}`]
      : []),
    ...(calls > 0 ? [formatCount(calls, 'call')] : []),
  ];
  if (held.length > 0)
    out.line(out.paint.yellow(`Held for approval: ${held.join(', ')}. Review with: trunkline approvals`));
  if (problem !== undefined)
    out.line(
      out.paint.red(`New tools stay held, because the approvals cannot be read: ${toOneLine(problem)}`),
    );
}

/** Prints problems of the configuration, the audit log and the servers. */
function printProblems(
  { configProblem, needsRestart = [], audit, servers }: AdminStatus,
  { out }: CliContext,
): void {
  const { red, yellow } = out.paint;
  if (configProblem !== undefined) {
    out.line(red('The configuration file is invalid. The gateway uses its previous version:'));
    for (const line of configProblem.message.split('\n')) out.prose(`  ${toOneLine(line)}`);
  }
  if (needsRestart.length > 0) out.line(yellow(formatRestartNote(needsRestart)));
  const { dropped = 0, problem: auditProblem } = audit ?? {};
  if (dropped > 0)
    out.line(
      red(
        `${formatCount(dropped, 'operation')} could not be recorded${auditProblem === undefined ? '' : `: ${toOneLine(auditProblem)}`}`,
      ),
    );
  const rows = servers.flatMap(({ name, problem }) =>
    problem === undefined
      ? []
      : [
          [
            { text: toOneLine(name), paint: problem.code === 'QUARANTINED' ? yellow : red },
            toOneLine(problem.message),
          ],
        ],
  );
  out.table(rows, { lastColumn: 'wrap', hasNameColumn: true });
}

function formatFleet({ replica, address, others, problem }: NonNullable<AdminStatus['fleet']>): string {
  if (problem !== undefined) return toOneLine(problem);
  const replicas = others.map((other) => `${other.id} at ${other.address}`).join(', ');
  return `${replica} at ${address}, ${others.length === 0 ? 'no other replica' : `with ${toOneLine(replicas)}`}`;
}
