import type { AdminServer } from '../../../admin/contract/contract.ts';
import { suggestServerFix } from '../../../admin/presenters/suggest-server-fix.ts';
import { errorTable } from '../../../core/errors.ts';
import { formatCount } from '../../../core/lib/format-count.ts';
import type { Finding } from './finding.ts';

/** Returns the state of each server, with the command that fixes its problem. */
export function checkServers(
  servers: readonly AdminServer[],
  programOf: (command: string, cwd: string | undefined) => string | undefined,
): readonly Finding[] {
  return servers.map((server): Finding => {
    const about = { check: 'server', subject: server.name } as const;
    const { problem, transport, state, enabled, tools, listedAt } = server;
    if (!enabled) return { ...about, status: 'ok', message: 'is disabled' };
    if (problem === undefined) {
      const known = listedAt === undefined ? 'not listed yet' : formatCount(tools, 'tool');
      return { ...about, status: 'ok', message: `${state}, ${known}` };
    }
    const { code, message, attempts } = problem;
    // A held server is not broken. It needs the user's decision.
    if (code === 'QUARANTINED')
      return { ...about, status: 'warning', message, fix: suggestServerFix(server) };
    const isMissing =
      (transport?.kind === 'stdio' || transport?.kind === 'cli') &&
      !transport.command.includes('${') &&
      programOf(transport.command, transport.cwd) === undefined;
    return {
      ...about,
      status: 'failure',
      message: attempts === undefined ? message : `${message} The gateway keeps retrying.`,
      fix: isMissing
        ? `Install ${transport.command}, or set its full path as "command" of mcpServers.${server.name} with: trunkline edit`
        : suggestServerFix(server),
      exit: errorTable[code].exit,
    };
  });
}
