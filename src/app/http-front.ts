import { setTimeout as delay } from 'node:timers/promises';

import type { ConfigSnapshot } from '../config/config.ts';
import type { ParkedCalls } from '../downstream/parked-calls.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { AppOptions } from './app-options.ts';
import type { Connect, Front, FrontDeps } from './open-front.ts';

/** How long a connection that came in the last moment has to send its request before others are told to go elsewhere. */
const SETTLE_MS = 250;
/** How long a connection that was used before may be used again. */
const UNUSED_MS = 500;
/** How long one that never was has to send its request, since its client may get no turn on a busy machine. */
const ASKING_MS = 2000;

/** Clients over HTTP. */
export async function httpFront(
  options: AppOptions,
  config: () => ConfigSnapshot,
  deps: Pick<
    FrontDeps,
    'gateway' | 'log' | 'metricsText' | 'callers' | 'dashboard' | 'store' | 'key' | 'others'
  > & {
    readonly connect: Connect;
    readonly parked: ParkedCalls;
  },
): Promise<Front> {
  const { gateway, log, connect, parked } = deps;
  const { http, auth } = config().value;
  const [{ mcpRoutes }, { listen }, { serverAt }] = await Promise.all([
    import('../downstream/http.ts'),
    import('../downstream/listen.ts'),
    import('../downstream/single-server.ts'),
  ]);
  const [{ openHttpDoor }, { openSessionKeeping }] = await Promise.all([
    import('./callers/http-door.ts'),
    import('./sessions/open-session-keeping.ts'),
  ]);
  const door = await openHttpDoor(options, config(), deps);
  const routes = mcpRoutes({
    ...http,
    ...openSessionKeeping(deps),
    door,
    connect: ({ caller, channel, path, kept }) => {
      const server = serverAt(path);
      const served = server === undefined ? gateway : gateway.alone(server);
      return connect(caller, channel, { served, place: path, kept });
    },
    hasServer: (name, caller) =>
      gateway.alone(name) !== undefined && gateway.sight.knows(caller, name as UpstreamName),
    hasProfile: (name) => Object.hasOwn(config().value.profiles, name),
    log,
    metricsText: deps.metricsText,
    isReady: () => true,
  });
  const listener = await listen({
    address: typeof options.http === 'string' ? options.http : http.address,
    asksWho: auth !== undefined,
    routes,
    log,
  });
  door.listensAt(listener.url);
  return {
    url: new URL('/mcp', listener.url).href,
    clients: () => routes.sessions,
    drain: async (forMs) => {
      routes.retire();
      await delay(forMs);
      await listener.refuse(SETTLE_MS);
    },
    stopAccepting: () => {
      routes.retire();
      routes.stopAccepting();
      parked.close();
    },
    drained: () => Promise.resolve(),
    prepare: async (next, { settings }) => {
      const isDoor = settings.includes('auth') || next.value.http.publicUrl !== config().value.http.publicUrl;
      const open = isDoor ? await door.prepare(next) : undefined;
      return () => {
        open?.();
        routes.adjust(next.value.http);
        if (isDoor) routes.endAll('Who may call was configured otherwise; connect again.');
      };
    },
    [Symbol.asyncDispose]: async () => {
      await routes[Symbol.asyncDispose]();
      // What was sent a moment ago is answered, if only with a refusal.
      await listener.settle({ unusedMs: UNUSED_MS, askingMs: ASKING_MS });
      await listener.close();
    },
  };
}
