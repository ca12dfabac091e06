import type { AdminServer } from '../../../admin/contract/contract.ts';
import { suggestServerFix } from '../../../admin/presenters/suggest-server-fix.ts';
import { errorTable } from '../../../core/errors.ts';
import { formatCount } from '../../../core/lib/format-count.ts';
import type { Finding } from './finding.ts';

/** Returns the state of each server, with the command that fixes its problem. */
export function checkServers(servers: readonly AdminServer[]): readonly Finding[] {
  return servers.map((server): Finding => {
    const about = { check: 'server', subject: server.name } as const;
    const { problem, state, enabled, tools, listedAt } = server;
    if (!enabled) return { ...about, status: 'ok', message: 'is disabled' };
    if (problem === undefined) {
      const known =
        listedAt === undefined ? 'its tools have not been fetched yet' : formatCount(tools, 'tool');
      return { ...about, status: 'ok', message: `${state}, ${known}` };
    }
    const { code, message, summary = message, retryAt } = problem;
    // A held server is not broken. It needs the user's decision.
    if (code === 'QUARANTINED')
      return { ...about, status: 'warning', message, fix: suggestServerFix(server) };
    return {
      ...about,
      status: 'failure',
      message: retryAt === undefined ? summary : `${summary} The gateway keeps retrying.`,
      fix: suggestServerFix(server),
      exit: errorTable[code].exit,
    };
  });
}
