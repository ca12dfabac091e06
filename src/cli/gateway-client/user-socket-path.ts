import { randomBytes } from 'node:crypto';
import { runDirOf } from '../../app/shared-gateway/gateway-record.ts';
import { socketPath } from '../../app/shared-gateway/socket-path.ts';
import type { CliContext } from '../context.ts';

/** Returns a new path on which a gateway of this state folder can listen. Every gateway has its own path. */
export function createUserSocketPath(stateDir: string, { env, platform }: CliContext): string {
  return socketPath({
    platform,
    runDir: runDirOf(stateDir),
    runtimeDir: env['XDG_RUNTIME_DIR'],
    id: randomBytes(6).toString('hex'),
  });
}
