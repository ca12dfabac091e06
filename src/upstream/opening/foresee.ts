import { existsSync } from 'node:fs';
import type { UpstreamConfig } from '../../config/config.ts';
import type { RevealedTransport } from '../../config/references.ts';
import { programOnPath } from '../../lib/program-on-path.ts';
import { GatewayError } from '../../model/errors.ts';
import { childEnv } from '../process/child-env.ts';
import { classifyConnect } from './classify.ts';

interface ForeseeDeps {
  readonly reveal: (config: UpstreamConfig) => Promise<RevealedTransport>;
  /** Ours with that of a login shell, which may have to be asked. */
  readonly path: () => Promise<string | undefined>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** Why a server cannot be opened, in the words of whoever would open it, as far as that can be known without; nothing is started. */
export async function foresee(config: UpstreamConfig, deps: ForeseeDeps): Promise<GatewayError | undefined> {
  // Another gateway may have what this one lacks.
  if (config.share === 'fleet') return undefined;
  let transport: RevealedTransport;
  try {
    transport = await deps.reveal(config);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  if (transport.kind === 'http') return undefined;
  const code = await troubleOf(transport, deps);
  if (code === undefined) return undefined;
  const { command } = transport;
  const cause = Object.assign(new Error(`spawn ${command} ${code}`), { code, path: command });
  return classifyConnect(cause, config.name, { stderr: [] });
}

type Program = Exclude<RevealedTransport, { kind: 'http' }>;

/** What the system would answer to whoever starts it. */
async function troubleOf(program: Program, deps: ForeseeDeps): Promise<'ENOENT' | 'EACCES' | undefined> {
  const { kind, command, cwd } = program;
  if (kind === 'stdio' && cwd !== undefined && !existsSync(cwd)) return 'ENOENT';
  const found = (path: string | undefined, isProgram?: (file: string) => boolean): boolean => {
    const env = childEnv({ ours: deps.env, path, configured: program.env });
    const where = { env, platform: deps.platform, cwd: cwd ?? '', ...(isProgram && { isProgram }) };
    return programOnPath(command, where) !== undefined;
  };
  // A shell is asked only where our own path does not lead there.
  if (found(deps.env['PATH'])) return undefined;
  const path = await deps.path();
  if (found(path)) return undefined;
  return kind === 'stdio' && found(path, existsSync) ? 'EACCES' : 'ENOENT';
}
