import type { AdminRoutes } from '../admin/routes.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { ListTexts } from '../downstream/lists.ts';
import { ParkedCalls } from '../downstream/parked-calls.ts';
import { servePeer } from '../downstream/serve-peer.ts';
import type { SignInOffers } from '../downstream/sign-in-offers.ts';
import { chooseExposure } from '../exposure/choose-exposure.ts';
import { code } from '../exposure/code/code.ts';
import type { LazySandbox } from '../exposure/code/lazy-sandbox.ts';
import { direct } from '../exposure/direct.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Served } from '../gateway/served.ts';
import type { Caller } from '../model/caller.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { Logger } from '../observe/log.ts';
import type { Results } from '../results/results.ts';
import { OwnStdio } from '../wire/own-stdio.ts';
import type { ClientChannel, Connection } from '../wire/serving.ts';
import { MAX_MESSAGE_BYTES } from './app-options.ts';
import type { AppOptions } from './app-options.ts';
import type { Callers } from './callers/callers.ts';

/** What listens for clients: told to stop first, closed when calls have been drained. */
export interface Front extends AsyncDisposable {
  readonly url: string | undefined;
  /** Client sessions that are connected now. */
  clients(): number;
  stopAccepting(): void;
  /** Another gateway has taken its place: it ends with its last client. */
  retire?(): void;
  /** Everything that clients wait for has been answered; calls are the gateway's business. */
  drained(): Promise<void>;
}

export interface FrontDeps {
  readonly gateway: Gateway;
  readonly log: Logger;
  readonly results: Results;
  readonly sandbox: LazySandbox;
  readonly admin: () => Promise<AdminRoutes>;
  readonly callers: Callers;
  readonly metricsText?: (() => string) | undefined;
  readonly signIns: SignInOffers;
  /** Clients are gone, or nobody has come for a long time. */
  readonly onEnd: () => void;
}

interface ConnectOptions {
  readonly served?: Served;
  /** Parked calls are continued where they were begun. */
  readonly place?: string;
  /** Whether what connects lasts as long as the client's session. */
  readonly isConnection?: boolean;
  readonly expose?: AppOptions['expose'];
}

export type Connect = (caller: Caller, channel: ClientChannel, options?: ConnectOptions) => Connection;

/** Standard input and output, HTTP, or the socket of the user's gateway; HTTP has the socket, too. */
export async function openFront(
  options: AppOptions,
  snapshot: ConfigSnapshot,
  deps: FrontDeps,
): Promise<Front> {
  if (options.listen === 'nobody') return nobody;
  const parked = new ParkedCalls({ ttlMs: snapshot.value.maxCallMs });
  const connect = connector(options, snapshot, { ...deps, parked });
  if (options.listen !== 'socket' && options.http === undefined) {
    const served = options.wrapped && deps.gateway.alone(options.wrapped.name);
    return stdioFront(options, { connect, parked, served, onEnd: deps.onEnd });
  }
  const fronts: Front[] = [];
  if (options.listen !== 'socket')
    fronts.push(await httpFront(options, snapshot, { ...deps, connect, parked }));
  const { socket } = options;
  if (socket !== undefined) {
    const { openSocket } = await import('./socket/open-socket.ts');
    fronts.push(await openSocket(socket, { ...deps, options, snapshot, connect, parked }));
  }
  return {
    url: fronts[0]?.url,
    clients: () => fronts.reduce((sum, front) => sum + front.clients(), 0),
    stopAccepting: () => {
      for (const front of fronts) front.stopAccepting();
    },
    retire: () => {
      for (const front of fronts) front.retire?.();
    },
    drained: async () => void (await Promise.all(fronts.map((front) => front.drained()))),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(fronts.map((front) => front[Symbol.asyncDispose]()));
    },
  };
}

function connector(
  options: AppOptions,
  snapshot: ConfigSnapshot,
  deps: Pick<FrontDeps, 'gateway' | 'log' | 'results' | 'sandbox' | 'signIns'> & {
    readonly parked: ParkedCalls;
  },
): Connect {
  const { gateway, log, results, sandbox, parked, signIns } = deps;
  const lists = new ListTexts();
  const { version } = options;
  const { expose, code: limits } = snapshot.value;
  const { separator } = snapshot.value.names;
  const scripts = code({ sandbox: () => sandbox.get(), limits, results, separator });
  const { profiles } = snapshot.value;
  const known = new Map<typeof expose.kind, ReturnType<typeof chooseExposure>>();
  const chosen = (kind: typeof expose.kind): ReturnType<typeof chooseExposure> => {
    let same = known.get(kind);
    if (same === undefined) known.set(kind, (same = choice(kind)));
    return same;
  };
  const choice = (kind: typeof expose.kind): ReturnType<typeof chooseExposure> => {
    const choose = chooseExposure({
      ...expose,
      kind,
      results,
      code: scripts,
      onExcess: (excess) =>
        log.warn('A client takes fewer tools than are listed; expose.kind "search" shows it all.', excess),
    });
    return (view, client) => {
      const exposure = choose(view, client);
      if (exposure.kind !== 'direct') gateway.search.prepare();
      return exposure;
    };
  };
  return (caller, channel, { served = gateway, place = '', isConnection = false, expose: wanted } = {}) => {
    // What a client asked for itself, else its profile, else what holds for all.
    const ofProfile = Object.hasOwn(profiles, caller.profile) ? profiles[caller.profile]?.expose : undefined;
    const own = chosen(wanted ?? ofProfile ?? options.expose ?? expose.kind);
    return servePeer({
      gateway: served,
      // A server that is served alone looks like itself.
      exposure: served === gateway ? own : direct,
      ...{ caller, channel, lists, parked, place, isConnection, signIns, log, version },
    });
  };
}

function stdioFront(
  { stdin, stdout, profile = 'default', expose }: AppOptions,
  {
    connect,
    parked,
    served,
    onEnd,
  }: { connect: Connect; parked: ParkedCalls; served: Served | undefined; onEnd: () => void },
): Front {
  const caller: Caller = { id: 'local', via: 'stdio', profile };
  const stdio = new OwnStdio({
    stdin,
    stdout,
    connect: (channel) => connect(caller, channel, { isConnection: true, expose, ...(served && { served }) }),
    maxMessageBytes: MAX_MESSAGE_BYTES,
    onEnd,
  });
  return {
    url: undefined,
    clients: () => 1,
    stopAccepting: () => {
      stdin.pause();
      parked.close();
    },
    drained: () => stdio.drained(),
    [Symbol.asyncDispose]: () => Promise.resolve(stdio.close()),
  };
}

async function httpFront(
  options: AppOptions,
  snapshot: ConfigSnapshot,
  deps: Pick<FrontDeps, 'gateway' | 'log' | 'metricsText' | 'callers' | 'admin'> & {
    readonly connect: Connect;
    readonly parked: ParkedCalls;
  },
): Promise<Front> {
  const { gateway, log, connect, parked } = deps;
  const { http } = snapshot.value;
  const [{ mcpRoutes }, { listen }, { serverAt }] = await Promise.all([
    import('../downstream/http.ts'),
    import('../downstream/listen.ts'),
    import('../downstream/single-server.ts'),
  ]);
  const { openHttpDoor } = await import('./callers/http-door.ts');
  const door = await openHttpDoor(options, snapshot, deps);
  const routes = mcpRoutes({
    ...http,
    door,
    connect: ({ caller, channel, path }) => {
      const server = serverAt(path);
      const served = server === undefined ? gateway : gateway.alone(server);
      return connect(caller, channel, { ...(served !== undefined && { served }), place: path });
    },
    hasServer: (name, caller) =>
      gateway.alone(name) !== undefined && gateway.sight.of(caller).sees(name as UpstreamName),
    hasProfile: (name) => Object.hasOwn(snapshot.value.profiles, name),
    log,
    metricsText: deps.metricsText,
    isReady: () => true,
  });
  const listener = await listen({
    address: typeof options.http === 'string' ? options.http : http.address,
    asksWho: snapshot.value.auth !== undefined,
    routes,
    log,
  }).catch((error: unknown) => {
    door[Symbol.dispose]();
    throw error;
  });
  door.listensAt(listener.url);
  return {
    url: new URL('/mcp', listener.url).href,
    clients: () => routes.sessions,
    stopAccepting: () => {
      routes.stopAccepting();
      parked.close();
    },
    drained: () => Promise.resolve(),
    [Symbol.asyncDispose]: async () => {
      door[Symbol.dispose]();
      await routes[Symbol.asyncDispose]();
      await listener.close();
    },
  };
}

const nobody: Front = {
  url: undefined,
  clients: () => 0,
  stopAccepting: () => {},
  drained: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
