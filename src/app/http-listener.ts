import { setTimeout as delay } from 'node:timers/promises';

import type { ConfigSnapshot } from '../config/config.ts';
import type { McpRoutes } from '../downstream/http/mcp-routes.ts';
import type { ParkedCalls } from '../downstream/questions/parked-calls.ts';
import { GatewayError } from '../core/errors.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { AppOptions } from './app-options.ts';
import type { ClientListener, ConnectClient, ListenerDeps } from './client-listeners.ts';
import type { ReloadableHttpAuth } from './open-http-auth.ts';

/** Maximum time that `drain` waits for open connections to close, after it has refused new ones. */
const SETTLE_MS = 250;
/** The final drain closes idle connections after this time without a new request. */
const DRAIN_IDLE_MS = 500;
/** Maximum duration of the final drain, long enough for the first request of a slow client on a busy machine. */
const DRAIN_TOTAL_MS = 2000;

type HttpListenerDeps = Pick<
  ListenerDeps,
  'gateway' | 'log' | 'metricsText' | 'callers' | 'dashboard' | 'store' | 'key' | 'others'
> & {
  readonly connect: ConnectClient;
  readonly parked: ParkedCalls;
};

/**
 * Opens the HTTP server for clients, the admin API and the dashboard. The shutdown (`shutdown.ts`) calls, in this order: `drain`, which
 * announces the stop, continues to serve and then refuses new connections; `stopAccepting`, which refuses new requests; `drained`; and
 * dispose, which ends the sessions, drains the remaining connections and closes the server.
 */
export async function openHttpListener(
  options: AppOptions,
  config: () => ConfigSnapshot,
  deps: HttpListenerDeps,
): Promise<ClientListener> {
  const { log, parked } = deps;
  const { http, auth: authConfig } = config().value;
  const [{ listen }, { openHttpAuth }] = await Promise.all([
    import('../downstream/http/listen.ts'),
    import('./open-http-auth.ts'),
  ]);
  const auth = await openHttpAuth(options, config(), deps);
  const routes = await createRoutes(config, auth, deps);
  const listener = await listen({
    address: typeof options.http === 'string' ? options.http : http.address,
    requiresAuth: authConfig !== undefined,
    routes,
    log,
  });
  auth.setUrl(listener.url);
  return {
    url: new URL('/mcp', listener.url).href,
    clients: () => routes.sessionCount,
    drain: async (forMs) => {
      routes.startDraining();
      await delay(forMs);
      await listener.refuseConnections(SETTLE_MS);
    },
    stopAccepting: () => {
      routes.startDraining();
      routes.stopAccepting();
      parked.close();
    },
    drained: () => Promise.resolve(),
    prepare: async (next, { settings }) => {
      const isAuthChanged =
        settings.includes('auth') || next.value.http.publicUrl !== config().value.http.publicUrl;
      const activateAuth = isAuthChanged ? await auth.prepare(next) : undefined;
      return () => {
        activateAuth?.();
        routes.applySettings(next.value.http);
        if (isAuthChanged) routes.endAll('The authentication settings changed; connect again.');
      };
    },
    [Symbol.asyncDispose]: async () => {
      await routes[Symbol.asyncDispose]();
      // The final drain: requests that are already on their way get a response, even if it is an error.
      await listener.drain({ idleMs: DRAIN_IDLE_MS, totalMs: DRAIN_TOTAL_MS });
      await listener.close();
    },
  };
}

async function createRoutes(
  config: () => ConfigSnapshot,
  auth: ReloadableHttpAuth,
  deps: HttpListenerDeps,
): Promise<McpRoutes> {
  const { gateway, log, connect, metricsText } = deps;
  const [{ createMcpRoutes }, { readServerFromPath }, { openSessionPersistence }] = await Promise.all([
    import('../downstream/http/mcp-routes.ts'),
    import('../downstream/http/mcp-paths.ts'),
    import('./open-session-persistence.ts'),
  ]);
  return createMcpRoutes({
    ...config().value.http,
    ...openSessionPersistence(deps),
    auth,
    connect: ({ caller, channel, path, stored }) => {
      const server = readServerFromPath(path);
      const backend = server === undefined ? gateway : gateway.singleServer(server);
      // A reload may have removed the server after the path was checked. The client must not get the whole gateway instead.
      if (backend === undefined)
        throw new GatewayError('ENTRY_NOT_FOUND', `Server "${server}" was removed from the configuration.`);
      return connect(caller, channel, { backend, endpoint: path, stored });
    },
    hasServer: (name, caller) =>
      gateway.singleServer(name) !== undefined &&
      gateway.visibility.canKnowServer(caller, name as UpstreamName),
    hasProfile: (name) => Object.hasOwn(config().value.profiles, name),
    log,
    metricsText,
    isReady: () => true,
  });
}
