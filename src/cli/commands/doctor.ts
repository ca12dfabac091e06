import { loadConfig } from '../../config/load.ts';
import type { ConfigSnapshot } from '../../config/config.ts';
import { findConfig, locations, stateDirOf } from '../../config/paths.ts';
import { isTrusted } from '../../config/trust.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { onLine } from '../on-line.ts';
import { fileFindings } from './doctor/file-findings.ts';
import type { Finding } from './doctor/finding.ts';
import { portFindings } from './doctor/port-findings.ts';
import { programOnPath } from './doctor/program-on-path.ts';
import { runningFindings } from './doctor/running-findings.ts';
import { serverFindings } from './doctor/server-findings.ts';

const LEAST_NODE = [20, 19] as const;

/** Looks at everything that can be wrong, and goes on after what is. */
export async function doctor(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const findings: Finding[] = [versionFinding(context)];
  const found = await configFindings(options, context);
  findings.push(...found.findings);
  if (found.file !== undefined && found.stateDir !== undefined) {
    findings.push(
      ...(await fileFindings({ config: found.file, stateDir: found.stateDir }, context.platform)),
    );
    findings.push(...(await processFindings(found.stateDir)));
    findings.push(...(await runningFindings(found.stateDir, found.file)));
  }
  if (found.snapshot !== undefined)
    findings.push(...(await gatewayFindings(options, found.snapshot, context)));
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

interface FoundConfig {
  readonly findings: readonly Finding[];
  readonly file?: string;
  readonly stateDir?: string;
  readonly snapshot?: ConfigSnapshot;
}

async function configFindings({ config }: GlobalOptions, context: CliContext): Promise<FoundConfig> {
  const places = locations(context);
  let place: { file: string; stateDir: string; isOwn: boolean } | undefined;
  try {
    const { file, from } = await findConfig({
      flag: config,
      env: context.env,
      cwd: context.cwd,
      locations: places,
      isTrusted: (project) => isTrusted(project, places.stateDir),
    });
    place = { file, stateDir: stateDirOf(file, places), isOwn: from === 'user' };
    const snapshot = await loadConfig({ file, version: context.version });
    const about = { check: 'configuration', subject: file } as const;
    const { upstreams } = snapshot.value;
    const findings = snapshot.warnings.map(({ line, column, message }): Finding => ({
      ...about,
      status: 'warning',
      message: `${line}:${column}: ${message}`,
      fix: 'Mend it: trunkline edit',
    }));
    const count = upstreams.length + snapshot.disabled.length;
    const message = `${count} ${count === 1 ? 'server' : 'servers'}`;
    return { findings: [{ ...about, status: 'ok', message }, ...findings], ...place, snapshot };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { findings: [configFailure(error, place)], ...place };
  }
}

function configFailure(
  error: GatewayError,
  place: { readonly file: string; readonly isOwn: boolean } | undefined,
): Finding {
  const { command, file: named } = error.details;
  const subject = place?.file ?? (typeof named === 'string' ? named : 'configuration');
  const about = { check: 'configuration', subject, message: error.message } as const;
  if (error.code === 'CONFIG_NOT_FOUND' && place?.isOwn === true)
    return {
      ...about,
      status: 'warning',
      fix: 'The first other command writes one; add servers to it then.',
    };
  const fix = typeof command === 'string' ? `Read it, then: ${command}` : `Mend ${subject}.`;
  return { ...about, status: 'failure', fix, exit: error.traits.exit };
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
  { value }: ConfigSnapshot,
  context: CliContext,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  await onLine({ ...options }, context, async (line) => {
    using _ = context.out.progress('Asking the servers');
    const status = await line.client.ask('GET /api/status', {}, line);
    const servers =
      line.to === 'gateway' ? status.servers : await line.client.ask('POST /api/refresh', {}, line);
    const { env, platform, cwd } = context;
    findings.push(
      ...(await portFindings(value.http.address, status.url)),
      ...serverFindings(servers, (command, own) =>
        programOnPath(command, { env, platform, cwd: own ?? cwd }),
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
