import type { AdminServer, AdminStatus, AdminWaitingCall } from '../admin/contract/contract.ts';
import type { GatewayFacts } from './state.ts';

export function server(name: string, more: Partial<AdminServer> = {}): AdminServer {
  return {
    ...{ name, enabled: true, state: 'ready', tools: 3, prompts: 0, resources: 0, inFlight: 0 },
    ...more,
  };
}

export function status(more: Partial<AdminStatus> = {}): AdminStatus {
  return {
    ...{ version: '1', pid: 1, since: 0, kind: 'background', config: '/c', clients: 0, warnings: [] },
    ...{ tools: 6, held: { servers: 0, entries: 0, calls: 0 }, servers: [server('one'), server('two')] },
    ...more,
  };
}

export function facts(more: Partial<GatewayFacts> = {}): GatewayFacts {
  return { status: status(), approvals: { held: [], calls: [] }, today: { calls: 5, errors: 1 }, ...more };
}

export function waitingCall(given: AdminWaitingCall['arguments']): AdminWaitingCall {
  return {
    ...{ id: 'c1', caller: 'ada', profile: 'default', server: 'files', name: 'delete', arguments: given },
    ...{ rule: 'ask', since: 0, until: 1, isOpen: true },
  };
}
