import type { AdminServer, AdminStatus, AdminHeldCall } from '../../admin/contract/contract.ts';
import type { GatewaySnapshot } from './tray-state.ts';

export function createServer(name: string, changes: Partial<AdminServer> = {}): AdminServer {
  return {
    name,
    enabled: true,
    state: 'ready',
    tools: 3,
    prompts: 0,
    resources: 0,
    inFlight: 0,
    ...changes,
  };
}

export function createStatus(changes: Partial<AdminStatus> = {}): AdminStatus {
  return {
    version: '1',
    pid: 1,
    since: 0,
    kind: 'background',
    config: '/c',
    clients: 0,
    warnings: [],
    tools: 6,
    held: {
      servers: 0,
      entries: 0,
      calls: 0,
    },
    servers: [createServer('one'), createServer('two')],
    ...changes,
  };
}

export function createSnapshot(changes: Partial<GatewaySnapshot> = {}): GatewaySnapshot {
  return {
    status: createStatus(),
    approvals: { held: [], calls: [] },
    today: { calls: 5, errors: 1 },
    ...changes,
  };
}

export function createHeldCall(args: AdminHeldCall['arguments']): AdminHeldCall {
  return {
    id: 'c1',
    caller: 'ada',
    profile: 'default',
    server: 'files',
    name: 'delete',
    arguments: args,
    rule: 'ask',
    since: 0,
    until: 1,
    isOpen: true,
  };
}
