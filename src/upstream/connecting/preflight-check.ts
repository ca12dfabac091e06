import { existsSync } from 'node:fs';
import type { UpstreamConfig } from '../../config/config.ts';
import { runsReferencePrograms } from '../../config/server-texts.ts';
import type { ResolvedTransport } from '../../config/resolve-transport.ts';
import { findProgram } from '../../core/lib/find-program.ts';
import { GatewayError } from '../../core/errors.ts';
import { buildServerEnv } from '../process/build-server-env.ts';
import { classifyConnectError, explainMissingSecret, withMissingFolder } from './upstream-errors.ts';

interface PreflightDeps {
  readonly resolveTransport: (config: UpstreamConfig) => Promise<ResolvedTransport>;
  /** Returns our PATH combined with that of a login shell. It may have to run the shell first. */
  readonly searchPath: () => Promise<string | undefined>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** Returns the error with which connecting to a server would fail, or undefined if no problem is found without starting the server. */
export async function preflightCheck(
  config: UpstreamConfig,
  deps: PreflightDeps,
): Promise<GatewayError | undefined> {
  // Another gateway of the fleet may run the server, so it does not matter whether this machine has the program.
  if (config.share === 'fleet') return undefined;
  // A program that prints a value runs only when the server is used: it may ask the user, and the server may be held.
  if (runsReferencePrograms(config)) return undefined;
  let transport: ResolvedTransport;
  try {
    transport = await deps.resolveTransport(config);
  } catch (error) {
    const explained = explainMissingSecret(error, config.name);
    if (explained instanceof GatewayError) return explained;
    throw explained;
  }
  if (transport.kind === 'http') return undefined;
  const code = await findStartError(transport, deps);
  if (code === undefined) return undefined;
  const { command, cwd } = transport;
  const cause = Object.assign(new Error(`spawn ${command} ${code}`), { code, path: command });
  return classifyConnectError(withMissingFolder(cause, cwd), config.name, { stderr: [] });
}

type ProgramTransport = Exclude<ResolvedTransport, { kind: 'http' }>;

/** Returns the error code that the operating system would report, or undefined if the program can be started. */
async function findStartError(
  transport: ProgramTransport,
  deps: PreflightDeps,
): Promise<'ENOENT' | 'EACCES' | undefined> {
  const { kind, command, cwd } = transport;
  if (kind === 'stdio' && cwd !== undefined && !existsSync(cwd)) return 'ENOENT';
  const isFound = (path: string | undefined, isProgram?: (file: string) => boolean): boolean => {
    const env = buildServerEnv({ ours: deps.env, path, configured: transport.env });
    const options = { env, platform: deps.platform, cwd: cwd ?? '', isProgram };
    return findProgram(command, options) !== undefined;
  };
  // A login shell is run only if our own PATH does not contain the program.
  if (isFound(deps.env['PATH'])) return undefined;
  const path = await deps.searchPath();
  if (isFound(path)) return undefined;
  // No executable file was found; if a file with this name exists, it lacks the permission.
  return kind === 'stdio' && isFound(path, existsSync) ? 'EACCES' : 'ENOENT';
}
