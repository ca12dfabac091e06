import type { AdminServer } from '../../../admin/contract/contract.ts';
import { serverFix } from '../../../admin/shown/server-fix.ts';
import { errorTable } from '../../../model/errors.ts';
import { counted } from '../listing.ts';
import type { Finding } from './finding.ts';

/** The state of each server, with the one command that mends it. */
export function serverFindings(
  servers: readonly AdminServer[],
  programOf: (command: string, cwd: string | undefined) => string | undefined,
): readonly Finding[] {
  return servers.map((server): Finding => {
    const about = { check: 'server', subject: server.name } as const;
    const { problem, transport, state, enabled, tools, listedAt } = server;
    if (!enabled) return { ...about, status: 'ok', message: 'is disabled' };
    if (problem === undefined) {
      const known = listedAt === undefined ? 'nothing is known of its tools yet' : counted(tools, 'tool');
      return { ...about, status: 'ok', message: `${state}, ${known}` };
    }
    const { code, message, attempts } = problem;
    // It waits for the person who reads this, and nothing is broken.
    if (code === 'QUARANTINED') return { ...about, status: 'warning', message, fix: serverFix(server) };
    const isMissing =
      (transport?.kind === 'stdio' || transport?.kind === 'cli') &&
      !transport.command.includes('${') &&
      programOf(transport.command, transport.cwd) === undefined;
    return {
      ...about,
      status: 'failure',
      message: attempts === undefined ? message : `${message} It is tried again by itself.`,
      fix: isMissing
        ? `Install ${transport.command}, or give its full path as "command" of mcpServers.${server.name}: trunkline edit`
        : serverFix(server),
      exit: errorTable[code].exit,
    };
  });
}
