import type { AdminFleet } from '../admin/contract/contract.ts';
import type { ManagementAccess } from '../admin/deps.ts';
import type { AdminRoutes } from '../admin/routes.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import type { TokenMeter } from '../exposure/token-meter.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Pause } from '../gateway/operating/pause.ts';
import type { Scope } from '../lib/scope.ts';
import type { AuditTrail } from '../observe/audit/audit-trail.ts';
import type { Logger } from '../observe/log.ts';
import type { AppOptions } from './app-options.ts';
import type { Callers } from './callers/callers.ts';
import type { Dashboard } from './callers/dashboard.ts';
import type { Front } from './open-front.ts';
import type { Reloading } from './reloading.ts';
import { othersOf } from './sessions/others-of.ts';
import type { GatewaySignIns } from './signing-in/gateway-sign-ins.ts';

/** The admin API of this gateway; it and its library are loaded for the first who asks. */
export function lazyAdmin(
  options: AppOptions,
  deps: {
    readonly gateway: Gateway;
    readonly config: () => ConfigSnapshot;
    readonly reload: () => Pick<Reloading, 'look' | 'state'> | undefined;
    readonly audit: AuditTrail;
    readonly signIns: GatewaySignIns;
    readonly fleet: Fleet | undefined;
    readonly restartElsewhere: (server: string) => Promise<void>;
    readonly callers: Callers;
    readonly pause: Pause;
    readonly management: ManagementAccess;
    readonly dashboard: Dashboard;
    readonly meter: TokenMeter;
    readonly scope: Scope;
    readonly front: () => Pick<Front, 'url' | 'clients'>;
    readonly log: Logger;
    readonly stop: () => void;
  },
): () => Promise<AdminRoutes> {
  const { gateway, config, reload, audit, signIns, front, log, stop } = deps;
  const { version, pid } = options;
  const since = Date.now();
  let loading: Promise<AdminRoutes> | undefined;
  const load = async (): Promise<AdminRoutes> => {
    const { adminRoutes } = await import('../admin/routes.ts');
    const routes = adminRoutes({
      gateway,
      audit,
      signIns,
      keys: deps.callers,
      browsers: deps.dashboard,
      meter: deps.meter,
      pause: deps.pause,
      management: deps.management,
      config,
      reload,
      fleet: () => deps.fleet && shownFleet(deps.fleet),
      others: deps.fleet && othersOf(deps.fleet),
      restartElsewhere: deps.restartElsewhere,
      kind: kindOf(options),
      openapi: options.openapi,
      version,
      pid,
      since,
      url: () => front().url,
      clients: () => front().clients(),
      stop,
      log,
    });
    deps.scope.defer(() => routes[Symbol.dispose]());
    return routes;
  };
  return () => (loading ??= load());
}

function shownFleet({ replicas, problem }: Fleet): AdminFleet {
  const { id: replica, address } = replicas.self;
  const reason = problem()?.message;
  return { replica, address, others: replicas.others(), ...(reason !== undefined && { problem: reason }) };
}

function kindOf({ listen, http }: AppOptions): 'background' | 'http' | 'own' {
  if (listen === 'socket') return 'background';
  return http === undefined ? 'own' : 'http';
}
