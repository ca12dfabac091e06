import type {
  AdminEvent,
  AdminServer,
  AdminStatus,
  AdminTick,
} from '../../../src/admin/contract/contract.ts';
import type { Resources } from './resources.ts';
import type { Settle } from './settle.ts';

/** Many events come at once; what they make stale is asked for once, a moment later. */
const SETTLE_MS = 250;
/** What changes with every call is asked for this often at most. */
const SLOW_MS = 5000;

/** Puts into the answers what an event says, and asks again for what it only hints at. */
export function applyEvent(event: AdminEvent, resources: Resources, settle: Settle): void {
  const { status, config, approvals, signIns, tools, latency, tokens, keys, profiles } = resources;
  switch (event.event) {
    case 'server':
      status.put((value) => ({ ...value, servers: withServer(value.servers, event.data) }));
      if (event.data.state === 'needs-auth') settle(SETTLE_MS, signIns);
      break;
    case 'server-gone':
      status.put((value) => ({
        ...value,
        servers: value.servers.filter(({ name }) => name !== event.data.name),
      }));
      settle(SETTLE_MS, tools, approvals, signIns);
      break;
    case 'catalog':
      settle(SETTLE_MS, status, tools, profiles);
      break;
    case 'approvals':
      status.put((value) => ({ ...value, held: event.data }));
      settle(SETTLE_MS, approvals);
      break;
    case 'config':
      settle(SETTLE_MS, status, config, tools, profiles);
      break;
    case 'sign-in':
      settle(SETTLE_MS, signIns, status);
      break;
    case 'keys':
      settle(SETTLE_MS, keys, profiles);
      break;
    case 'tick':
      status.put((value) => withTick(value, event.data));
      break;
    case 'reset':
      settle(SETTLE_MS, status, config, approvals, signIns, tools, latency, tokens, keys, profiles);
      break;
    case 'record':
      settle(SLOW_MS, latency, tokens, keys);
      break;
    case 'hello':
      break;
  }
}

/** A pause that is over is absent. */
function withTick(
  { pausedSince: _, ...status }: AdminStatus,
  { clients, pausedSince }: AdminTick,
): AdminStatus {
  return { ...status, clients, ...(pausedSince !== undefined && { pausedSince }) };
}

function withServer(servers: readonly AdminServer[], changed: AdminServer): readonly AdminServer[] {
  const isKnown = servers.some(({ name }) => name === changed.name);
  return isKnown
    ? servers.map((server) => (server.name === changed.name ? changed : server))
    : [...servers, changed];
}
