import type {
  AdminEvent,
  AdminServer,
  AdminStatus,
  AdminTick,
} from '../../../src/admin/contract/contract.ts';
import type { ScheduleRefresh } from './refresh-scheduler.ts';
import type { Resources } from './resources.ts';

/** The delay before a refresh. Many events arrive at once, and the resources that they affect are refreshed only once. */
const REFRESH_DELAY_MS = 250;
/** The delay for resources that change with every call, which are therefore refreshed at most once in this time. */
const SLOW_REFRESH_DELAY_MS = 5000;

/** Applies an event to the loaded resources, and schedules a refresh of resources whose new value it does not contain. */
export function applyEvent(event: AdminEvent, resources: Resources, refresh: ScheduleRefresh): void {
  const { status, config, approvals, signIns, tools, latency, tokens, clients, keys, profiles } = resources;
  switch (event.event) {
    case 'server':
      status.update((value) => ({ ...value, servers: replaceServer(value.servers, event.data) }));
      if (event.data.state === 'needs-auth') refresh(REFRESH_DELAY_MS, signIns);
      break;
    case 'server-gone':
      status.update((value) => ({
        ...value,
        servers: value.servers.filter(({ name }) => name !== event.data.name),
      }));
      refresh(REFRESH_DELAY_MS, tools, approvals, signIns);
      break;
    case 'catalog':
      refresh(REFRESH_DELAY_MS, status, tools, profiles);
      break;
    case 'approvals':
      status.update((value) => ({ ...value, held: event.data }));
      refresh(REFRESH_DELAY_MS, approvals);
      break;
    case 'config':
      refresh(REFRESH_DELAY_MS, status, config, tools, profiles);
      break;
    case 'sign-in':
      refresh(REFRESH_DELAY_MS, signIns, status);
      break;
    case 'keys':
      refresh(REFRESH_DELAY_MS, keys, profiles);
      break;
    case 'clients':
      refresh(REFRESH_DELAY_MS, clients);
      break;
    case 'tick':
      status.update((value) => applyTick(value, event.data));
      break;
    // The browser has missed events, so everything may be outdated.
    case 'reset':
      refresh(
        REFRESH_DELAY_MS,
        status,
        config,
        approvals,
        signIns,
        tools,
        latency,
        tokens,
        clients,
        keys,
        profiles,
      );
      break;
    case 'record':
      refresh(SLOW_REFRESH_DELAY_MS, latency, tokens, keys);
      break;
    case 'hello':
      break;
  }
}

function applyTick(status: AdminStatus, { clients, pausedSince }: AdminTick): AdminStatus {
  return { ...status, clients, pausedSince };
}

function replaceServer(servers: readonly AdminServer[], changed: AdminServer): readonly AdminServer[] {
  const isKnown = servers.some(({ name }) => name === changed.name);
  return isKnown
    ? servers.map((server) => (server.name === changed.name ? changed : server))
    : [...servers, changed];
}
