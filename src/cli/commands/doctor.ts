import { dirname } from 'node:path';
import type { ConfigSnapshot } from '../../config/config.ts';
import { programOnPath } from '../../lib/program-on-path.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { onLine } from '../line/on-line.ts';
import { configFindings } from './doctor/config-findings.ts';
import { fileFindings } from './doctor/file-findings.ts';
import type { Finding } from './doctor/finding.ts';
import { portFindings } from './doctor/port-findings.ts';
import { runningFindings } from './doctor/running-findings.ts';
import { serverFindings } from './doctor/server-findings.ts';

const LEAST_NODE = [20, 19] as const;

/** Looks at everything that can be wrong, and goes on after what is. */
export async function doctor(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const findings: Finding[] = [versionFinding(context)];
  const found = await configFindings(options, context);
  findings.push(...found.findings);
  const { file, stateDir, snapshot } = found;
  findings.push(...(await fileFindings({ config: file, stateDir }, context.platform)));
  findings.push(...(await processFindings(stateDir)));
  const running = await runningFindings(stateDir, file);
  findings.push(...running);
  // One that runs goes on with what the file said before, whatever is wrong with it now.
  if (snapshot !== undefined || running.length > 0)
    findings.push(...(await gatewayFindings(options, snapshot, context)));
  const failures = findings.filter(({ status }) => status === 'failure');
  if (context.out.style.format === 'json') context.out.json({ ok: failures.length === 0, findings });
  else print(findings, context);
  return (
    failures.map(({ exit = 1 }) => exit).find((exit) => exit === 3) ??
    failures[0]?.exit ??
    (failures.length > 0 ? 1 : 0)
  );
}

function versionFinding({ version }: CliContext): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < LEAST_NODE[0] || (major === LEAST_NODE[0] && minor < LEAST_NODE[1]);
  const message = `Trunkline ${version} on Node ${process.versions.node}`;
  const about = { check: 'versions', subject: 'trunkline', message } as const;
  if (!isOld) return { ...about, status: 'ok' };
  return { ...about, status: 'failure', fix: `Install Node ${LEAST_NODE.join('.')} or newer.`, exit: 1 };
}

async function processFindings(stateDir: string): Promise<readonly Finding[]> {
  const { staleProcesses } = await import('../../app/stale-processes.ts');
  const stale = staleProcesses(stateDir);
  const about = { check: 'processes', subject: stateDir } as const;
  if (stale.length === 0) return [{ ...about, status: 'ok', message: 'no server was left behind' }];
  const message = `servers of a gateway that is no more were still running: ${stale.join(', ')}`;
  return [
    { ...about, status: 'warning', message, fix: 'None: every start of a gateway ends them, this one too.' },
  ];
}

/** Asks a gateway that runs; without one the servers are started to see whether they can be. */
async function gatewayFindings(
  options: GlobalOptions,
  snapshot: ConfigSnapshot | undefined,
  context: CliContext,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  await onLine({ ...options }, context, async (line) => {
    using _ = context.out.progress('Asking the servers');
    const status = await line.client.ask('GET /api/status', {}, line);
    const servers =
      line.to === 'gateway' ? status.servers : await line.client.ask('POST /api/refresh', {}, line);
    const { env, platform } = context;
    const folder = dirname(line.config);
    findings.push(
      ...(snapshot === undefined ? [] : await portFindings(snapshot.value.http.address, status.url)),
      ...serverFindings(servers, (command, own) =>
        programOnPath(command, { env, platform, cwd: own ?? folder }),
      ),
    );
    return 0;
  });
  return findings;
}

function print(findings: readonly Finding[], { out }: CliContext): void {
  const { green, yellow, red, dim } = out.paint;
  const marks = {
    ok: { text: '✓', paint: green },
    warning: { text: '!', paint: yellow },
    failure: { text: '✗', paint: red },
  };
  const rows = findings.flatMap(({ check, subject, status, message, fix }) => [
    [marks[status], check, inOneLine(isAbout(message, subject) ? message : `${subject}: ${message}`)],
    ...(fix === undefined
      ? []
      : [['', '', { text: inOneLine(`→ ${fix}`), paint: status === 'ok' ? dim : yellow }]]),
  ]);
  out.table(rows, { last: 'wrap' });
  const failures = findings.filter(({ status }) => status === 'failure').length;
  const warnings = findings.filter(({ status }) => status === 'warning').length;
  const counts = [
    ...(failures > 0 ? [`${failures} ${failures === 1 ? 'thing is' : 'things are'} wrong`] : []),
    ...(warnings > 0 ? [`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`] : []),
  ];
  out.line(`\n${counts.length === 0 ? 'Nothing is wrong' : counts.join(', ')}.`);
}

/** Whether a message names its subject by itself, at its beginning. */
function isAbout(message: string, subject: string): boolean {
  const begin = message.toLowerCase();
  const name = subject.toLowerCase();
  return begin.startsWith(name) || begin.startsWith(`server "${name}"`);
}
