import { randomBytes } from 'node:crypto';
import { runDirOf } from '../../attach/gateway-record.ts';
import { socketPath } from '../../attach/socket-path.ts';
import type { CliContext } from '../context.ts';

/** Where the user's gateway of this state folder listens; a new place for each gateway. */
export function userSocket(stateDir: string, { env, platform }: CliContext): string {
  return socketPath({
    platform,
    runDir: runDirOf(stateDir),
    runtimeDir: env['XDG_RUNTIME_DIR'],
    id: randomBytes(6).toString('hex'),
  });
}
