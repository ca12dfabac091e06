import { SHOWN_KIND } from '../../gateway-kind.ts';
import { linesToGateways } from '../../line/lines-to-gateways.ts';
import { restartNote } from '../restart-note.ts';
import type { Finding } from './finding.ts';

/** Whether the gateway that runs does what the configuration file says. */
export async function runningFindings(stateDir: string, config: string): Promise<readonly Finding[]> {
  const [reached, ...others] = await linesToGateways(stateDir);
  if (reached === undefined) return [];
  const {
    configProblem,
    needsRestart = [],
    pid,
    pausedSince,
    kind,
    clients,
  } = await reached.line.client.ask('GET /api/status', {});
  const about = { check: 'configuration', subject: config } as const;
  const who = `process ${pid}`;
  const findings: Finding[] = [
    {
      ...{ check: 'processes', subject: who, status: 'ok' },
      message: `the gateway runs ${SHOWN_KIND[kind]}, for ${clients} ${clients === 1 ? 'client' : 'clients'}`,
    },
    ...others.map(({ record }): Finding => ({
      ...{ check: 'processes', subject: `process ${record.pid}`, status: 'ok' },
      message: `another gateway of this configuration runs ${SHOWN_KIND[record.kind]}, with servers of its own`,
    })),
  ];
  if (pausedSince !== undefined)
    findings.push({
      ...{ check: 'processes', subject: who, status: 'warning' },
      message: `the gateway is paused since ${new Date(pausedSince).toLocaleString('sv')}: every call is refused`,
      fix: 'trunkline resume',
    });
  if (configProblem !== undefined)
    findings.push({
      ...about,
      status: 'failure',
      message: `The running gateway, process ${pid}, cannot use the file as it is now: ${configProblem.message}`,
      fix: 'Mend it; the gateway takes it into use by itself.',
      exit: 3,
    });
  if (needsRestart.length > 0)
    findings.push({
      ...about,
      status: 'warning',
      message: restartNote(needsRestart),
      fix: 'trunkline stop, or start `trunkline serve --http` again.',
    });
  return findings;
}
