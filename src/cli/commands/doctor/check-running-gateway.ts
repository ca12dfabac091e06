import type { AdminStatus } from '../../../admin/contract/contract.ts';
import { formatCount } from '../../../core/lib/format-count.ts';
import { GATEWAY_KIND_TEXT } from '../../gateway-kind.ts';
import { findReachableGateways } from '../../gateway-client/reachable-gateways.ts';
import type { CliContext } from '../../context.ts';
import { listVariableDifferences } from '../../gateway-client/list-variable-differences.ts';
import { formatRestartNote } from '../format-restart-note.ts';
import type { Finding } from './finding.ts';

/**
 * Reports the running gateways of this configuration, and whether the first one uses the current content of the file and the variables of
 * this shell and of its clients.
 */
export async function checkRunningGateway(
  {
    file: config,
    text,
    stateDir,
  }: { readonly file: string; readonly text?: string | undefined; readonly stateDir: string },
  context: CliContext,
): Promise<readonly Finding[]> {
  const [gateway, ...others] = await findReachableGateways(stateDir);
  if (gateway === undefined) return [];
  const status = await gateway.connection.client.request('GET /api/status', {});
  const { pid, pausedSince, kind, clients, differingVariables } = status;
  const subject = `process ${pid}`;
  const findings: Finding[] = [
    {
      check: 'processes',
      subject,
      status: 'ok',
      message: `the gateway runs ${GATEWAY_KIND_TEXT[kind]} for ${formatCount(clients, 'client')}`,
    },
    ...others.map(({ record }): Finding => ({
      check: 'processes',
      subject: `process ${record.pid}`,
      status: 'ok',
      message: `another gateway of this configuration runs ${GATEWAY_KIND_TEXT[record.kind]}, with its own servers`,
    })),
  ];
  if (pausedSince !== undefined)
    findings.push({
      check: 'processes',
      subject,
      status: 'warning',
      message: `the gateway has been paused since ${new Date(pausedSince).toLocaleString('sv')} and refuses every call`,
      fix: 'trunkline resume',
    });
  const differences = await listVariableDifferences(
    gateway.record,
    { file: config, text, differingVariables },
    context,
  );
  for (const { problem, fix } of differences)
    findings.push({ check: 'processes', subject, status: 'warning', message: problem, fix });
  return [...findings, ...checkConfigInUse(status, config)];
}

function checkConfigInUse(
  { pid, configProblem, needsRestart = [] }: AdminStatus,
  config: string,
): readonly Finding[] {
  const about = { check: 'configuration', subject: config } as const;
  const findings: Finding[] = [];
  if (configProblem !== undefined)
    findings.push({
      ...about,
      status: 'failure',
      message: `The running gateway (process ${pid}) cannot use the current file: ${configProblem.message}`,
      fix: 'Correct the file. The gateway reloads it by itself.',
      exit: 3,
    });
  if (needsRestart.length > 0)
    findings.push({
      ...about,
      status: 'warning',
      message: formatRestartNote(needsRestart),
      fix: 'Run trunkline restart; for `trunkline serve --http`, start it again.',
    });
  return findings;
}
