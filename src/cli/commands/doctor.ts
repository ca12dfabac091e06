import type { ConfigSnapshot } from '../../config/config.ts';
import type { ExitCode } from '../../core/errors.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { toOneLine } from '../sanitize.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import type { CommandConnection } from '../gateway-client/with-gateway.ts';
import { checkClients } from './check-clients.ts';
import { checkConfigFile } from './doctor/check-config-file.ts';
import { checkFilePermissions } from './doctor/check-file-permissions.ts';
import type { Finding } from './doctor/finding.ts';
import { checkPort } from './doctor/check-port.ts';
import { checkRunningGateway } from './doctor/check-running-gateway.ts';
import { checkServers } from './doctor/check-servers.ts';

const MIN_NODE_VERSION = [20, 19] as const;

/** Runs all checks. A failed check does not stop the others. */
export async function runDoctor(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const findings: Finding[] = [checkVersions(context)];
  const found = await checkConfigFile(options, context);
  findings.push(...found.findings);
  const { file, stateDir, snapshot } = found;
  findings.push(...(await checkFilePermissions({ config: file, stateDir }, context.platform)));
  findings.push(...(await checkStaleProcesses(stateDir)));
  findings.push(...(await checkClients({ file, stateDir, flag: options.config }, context)));
  const running = await checkRunningGateway(found, context);
  findings.push(...running);
  // A running gateway keeps using the last valid configuration, so it is checked even if the file is now invalid.
  if (snapshot !== undefined || running.length > 0)
    findings.push(...(await checkGateway(options, snapshot, context)));
  const failures = findings.filter(({ status }) => status === 'failure');
  if (context.out.style.format === 'json') context.out.json({ ok: failures.length === 0, findings });
  else printFindings(findings, context);
  // Exit code 3, which an invalid configuration has, takes precedence over the exit codes of other failures.
  return (
    failures.map(({ exit = 1 }) => exit).find((exit) => exit === 3) ??
    failures[0]?.exit ??
    (failures.length > 0 ? 1 : 0)
  );
}

function checkVersions({ version }: CliContext): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor < MIN_NODE_VERSION[1]);
  const message = `Trunkline ${version} on Node ${process.versions.node}`;
  const about = { check: 'versions', subject: 'trunkline', message } as const;
  if (!isOld) return { ...about, status: 'ok' };
  return {
    ...about,
    status: 'failure',
    fix: `Install Node ${MIN_NODE_VERSION.join('.')} or newer.`,
    exit: 1,
  };
}

async function checkStaleProcesses(stateDir: string): Promise<readonly Finding[]> {
  const { findStaleProcesses } = await import('../../app/stale-processes.ts');
  const stale = findStaleProcesses(stateDir);
  const about = { check: 'processes', subject: stateDir } as const;
  if (stale.length === 0) return [{ ...about, status: 'ok', message: 'no leftover server processes' }];
  const message = `servers of a gateway that has ended were still running: ${stale.join(', ')}`;
  return [
    {
      ...about,
      status: 'warning',
      message,
      fix: 'Nothing to do: this check has ended them, as every start of a gateway does.',
    },
  ];
}

/** Asks the running gateway. If none runs, starts all servers to see whether they work. */
async function checkGateway(
  options: GlobalOptions,
  snapshot: ConfigSnapshot | undefined,
  context: CliContext,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const check = async (gateway: CommandConnection): Promise<ExitCode> => {
    using _ = context.out.progress('Checking the servers');
    const status = await gateway.client.request('GET /api/status', {}, gateway);
    const servers =
      gateway.target === 'running'
        ? status.servers
        : await gateway.client.request('POST /api/refresh', {}, gateway);
    findings.push(
      ...(snapshot === undefined ? [] : await checkPort(snapshot.value.http.address, status.url)),
      ...checkServers(servers),
    );
    return 0;
  };
  await withGateway({ ...options }, context, check, { gateway: 'any' });
  return findings;
}

function printFindings(findings: readonly Finding[], { out }: CliContext): void {
  const { green, yellow, red, dim } = out.paint;
  const marks = {
    ok: { text: '✓', paint: green },
    warning: { text: '!', paint: yellow },
    failure: { text: '✗', paint: red },
  };
  const rows = findings.flatMap(({ check, subject, status, message, fix }) => [
    [
      marks[status],
      check,
      toOneLine(startsWithSubject(message, subject) ? message : `${subject}: ${message}`),
    ],
    ...(fix === undefined
      ? []
      : [['', '', { text: toOneLine(`→ ${fix}`), paint: status === 'ok' ? dim : yellow }]]),
  ]);
  out.table(rows, { lastColumn: 'wrap' });
  const failures = findings.filter(({ status }) => status === 'failure').length;
  const warnings = findings.filter(({ status }) => status === 'warning').length;
  const counts = [
    ...(failures > 0 ? [formatCount(failures, 'problem')] : []),
    ...(warnings > 0 ? [formatCount(warnings, 'warning')] : []),
  ];
  out.line(`\n${counts.length === 0 ? 'No problems found' : counts.join(', ')}.`);
}

/** Whether a message already starts with the name of its subject. */
function startsWithSubject(message: string, subject: string): boolean {
  const begin = message.toLowerCase();
  const name = subject.toLowerCase();
  return begin.startsWith(name) || begin.startsWith(`server "${name}"`);
}
