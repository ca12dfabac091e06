import type { AdminLogLine, AdminServer } from '../../src/admin/contract/contract.ts';

const now = Date.now();

/** Returns the fake configuration, log or processes of a server. */
export function fakeServerResponse(route: string, servers: readonly AdminServer[]): unknown {
  const [, name = '', subject] = /^GET \/api\/servers\/([^/]+)\/(\w+)$/.exec(route) ?? [];
  const server = servers.find((candidate) => candidate.name === decodeURIComponent(name));
  if (server === undefined) return undefined;
  switch (subject) {
    case 'config':
      return {
        name: server.name,
        entry: fakeEntry(server),
        revision: 'a1',
        enabled: server.enabled,
        trust: 'first-sight',
      };
    case 'log':
      return {
        name: server.name,
        file: `/home/me/.local/state/trunkline/logs/servers/${server.name}.log`,
        ...fakeLog(),
      };
    case 'processes':
      return {
        name: server.name,
        memoryBytes: 121_000_000,
        processes: [
          {
            pid: 4801,
            command: 'npm exec',
            memoryBytes: 58_000_000,
            cpuSeconds: 0.4,
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

function fakeEntry({ transport }: AdminServer): object {
  if (transport?.kind === 'http') return { url: transport.url, headers: { authorization: 'Bearer •••' } };
  return { command: transport?.command ?? 'node', args: transport?.args ?? [], env: { API_TOKEN: '•••' } };
}

function fakeLog(): { lines: readonly AdminLogLine[]; hasMore: boolean; next: number } {
  const lines = Array.from({ length: 40 }, (_, index): AdminLogLine => {
    const at = now - (40 - index) * 3000;
    return index % 13 === 0
      ? { at, from: 'gateway', text: 'Ignored output that is not JSON-RPC.' }
      : { at, from: 'stderr', text: `request ${index} handled` };
  });
  return { lines, hasMore: true, next: 4000 };
}
