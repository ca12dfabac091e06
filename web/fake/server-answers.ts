import type { AdminLogLine, AdminServer } from '../../src/admin/contract/contract.ts';

const now = Date.now();

/** What is asked about one server: its entry, its log, its processes. */
export function serverAnswers(route: string, servers: readonly AdminServer[]): unknown {
  const [, name = '', what] = /^GET \/api\/servers\/([^/]+)\/(\w+)$/.exec(route) ?? [];
  const server = servers.find((each) => each.name === decodeURIComponent(name));
  if (server === undefined) return undefined;
  switch (what) {
    case 'config':
      return {
        ...{ name: server.name, entry: entryOf(server), revision: 'a1' },
        ...{ enabled: server.enabled, trust: 'first-sight' },
      };
    case 'log':
      return {
        name: server.name,
        file: `/home/me/.local/state/trunkline/logs/servers/${server.name}.log`,
        ...log(),
      };
    case 'processes':
      return {
        ...{ name: server.name, memoryBytes: 121_000_000 },
        processes: [
          {
            ...{ pid: 4801, command: 'npm exec', memoryBytes: 58_000_000, cpuSeconds: 0.4 },
            children: [
              { pid: 4822, command: 'node', memoryBytes: 63_000_000, cpuSeconds: 2.1, children: [] },
            ],
          },
        ],
      };
    default:
      return undefined;
  }
}

function entryOf({ transport }: AdminServer): object {
  if (transport?.kind === 'http') return { url: transport.url, headers: { authorization: 'Bearer •••' } };
  return { command: transport?.command ?? 'node', args: transport?.args ?? [], env: { API_TOKEN: '•••' } };
}

function log(): { lines: readonly AdminLogLine[]; hasMore: boolean; next: number } {
  const lines = Array.from({ length: 40 }, (_, at) => ({
    ...({ at: now - (40 - at) * 3000, from: at % 13 === 0 ? 'gateway' : 'stderr' } as const),
    text: at % 13 === 0 ? 'The server answered with something that is no message.' : `request ${at} handled`,
  }));
  return { lines, hasMore: true, next: 4000 };
}
