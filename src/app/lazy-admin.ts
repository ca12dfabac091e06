import type { AdminRoutes } from '../admin/routes.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { AuditTrail } from '../observe/audit/audit-trail.ts';
import type { Logger } from '../observe/log.ts';
import type { AppOptions } from './app-options.ts';
import type { Callers } from './callers/callers.ts';
import type { Front } from './open-front.ts';
import type { GatewaySignIns } from './signing-in/gateway-sign-ins.ts';

/** The admin API of this gateway; it and its library are loaded for the first who asks. */
export function lazyAdmin(
  options: AppOptions,
  deps: {
    readonly gateway: Gateway;
    readonly snapshot: ConfigSnapshot;
    readonly audit: AuditTrail;
    readonly signIns: GatewaySignIns;
    readonly callers: Callers;
    readonly front: () => Pick<Front, 'url' | 'clients'>;
    readonly log: Logger;
    readonly stop: () => void;
  },
): () => Promise<AdminRoutes> {
  const { gateway, snapshot, audit, signIns, front, log, stop } = deps;
  const { version, pid } = options;
  const since = Date.now();
  let loading: Promise<AdminRoutes> | undefined;
  const load = async (): Promise<AdminRoutes> => {
    const { adminRoutes } = await import('../admin/routes.ts');
    return adminRoutes({
      gateway,
      audit,
      signIns,
      keys: deps.callers,
      config: () => snapshot,
      kind: kindOf(options),
      version,
      pid,
      since,
      url: () => front().url,
      clients: () => front().clients(),
      stop,
      log,
    });
  };
  return () => (loading ??= load());
}

function kindOf({ listen, http }: AppOptions): 'background' | 'http' | 'own' {
  if (listen === 'socket') return 'background';
  return http === undefined ? 'own' : 'http';
}
