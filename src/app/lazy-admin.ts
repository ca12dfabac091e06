import type { AdminFleet } from '../admin/contract/contract.ts';
import type { ManagementAccess } from '../admin/admin-deps.ts';
import type { AdminRoutes } from '../admin/admin-routes.ts';
import { CLIENTS_SUBJECT } from '../core/connected-client.ts';
import type { ConnectedClients } from '../downstream/connected-clients.ts';
import type { TokenMeter } from '../exposure/token-meter.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { PauseState } from '../gateway/control/pause-state.ts';
import type { Scope } from '../core/lib/scope.ts';
import type { AuditTrail } from '../observability/audit/audit-trail.ts';
import type { Logger } from '../observability/log.ts';
import type { AppOptions } from './app-options.ts';
import type { CallerAuth } from '../auth/caller-auth.ts';
import type { DashboardServer } from './dashboard-server.ts';
import type { Runtime } from './runtime.ts';
import type { VariableExchange } from './socket/variable-exchange.ts';
import { createFleetBus } from '../fleet/fleet-bus.ts';
import type { SecretStore } from '../auth/upstream/secret-store.ts';
import type { GatewaySignIns } from '../auth/upstream/gateway-sign-ins.ts';

interface LazyAdminDeps {
  readonly gateway: Gateway;
  readonly audit: AuditTrail;
  readonly signIns: GatewaySignIns;
  readonly secrets: SecretStore;
  readonly fleet: Fleet | undefined;
  readonly restartOnOwner: (server: string) => Promise<void>;
  readonly callers: CallerAuth;
  readonly pause: PauseState;
  readonly management: ManagementAccess;
  readonly dashboard: DashboardServer;
  readonly meter: TokenMeter;
  readonly clients: ConnectedClients;
  readonly variables: VariableExchange;
  readonly scope: Scope;
  readonly log: Logger;
  readonly stop: () => void;
}

/** Returns a function that loads the admin API of this gateway on first use. */
export function createLazyAdmin(
  options: AppOptions,
  runtime: Runtime,
  deps: LazyAdminDeps,
): () => Promise<AdminRoutes> {
  const { gateway, audit, signIns, log, stop } = deps;
  const { version, pid } = options;
  const since = Date.now();
  const replicas = deps.fleet && createFleetBus(deps.fleet);
  // Other replicas may ask for the clients before this replica has loaded the admin API.
  const clientsHandler = replicas?.onRequest(CLIENTS_SUBJECT, async () => ({ clients: deps.clients.list() }));
  if (clientsHandler !== undefined) deps.scope.defer(() => clientsHandler[Symbol.dispose]());
  let loading: Promise<AdminRoutes> | undefined;
  const load = async (): Promise<AdminRoutes> => {
    const { createAdminRoutes } = await import('../admin/admin-routes.ts');
    const routes = createAdminRoutes({
      gateway,
      audit,
      signIns,
      secrets: deps.secrets,
      keys: deps.callers,
      browsers: deps.dashboard,
      meter: deps.meter,
      pause: deps.pause,
      management: deps.management,
      config: runtime.config,
      reload: () => runtime.reloader,
      fleet: () => deps.fleet && presentFleet(deps.fleet),
      replicas,
      restartOnOwner: deps.restartOnOwner,
      kind: kindOf(options),
      openapi: options.openapi,
      version,
      pid,
      since,
      url: runtime.url,
      clients: runtime.clients,
      connectedClients: deps.clients,
      differingVariables: () => deps.variables.differing(),
      stop,
      log,
    });
    deps.scope.defer(() => routes[Symbol.dispose]());
    return routes;
  };
  return () => (loading ??= load());
}

function presentFleet({ replicas, joinProblem }: Fleet): AdminFleet {
  const { id: replica, address } = replicas.self;
  return { replica, address, others: replicas.others(), problem: joinProblem()?.message };
}

function kindOf({ listen, http }: AppOptions): 'background' | 'http' | 'own' {
  if (listen === 'socket') return 'background';
  return http === undefined ? 'own' : 'http';
}
