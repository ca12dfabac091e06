import type { AdminRoutes } from '../admin/admin-routes.ts';
import type { KeySource } from '../auth/upstream/token-encryption/secret-key.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import type { ConfigDiff } from '../config/reload/diff-config.ts';
import { ListCache } from '../downstream/methods/list-cache.ts';
import { ParkedCalls } from '../downstream/questions/parked-calls.ts';
import type { ConnectedClients } from '../downstream/connected-clients.ts';
import { createClientSession } from '../downstream/client-session.ts';
import type { ReplicaBus } from '../core/replica-bus.ts';
import type { StoredSession, SessionConnection } from '../downstream/sessions/session-store.ts';
import type { SignInOffers } from '../downstream/questions/sign-in-offers.ts';
import type { LazySandbox } from '../exposure/code/lazy-sandbox.ts';
import { directExposure } from '../exposure/direct-exposure.ts';
import type { ExposureChoice } from '../exposure/exposure.ts';
import type { TokenMeter } from '../exposure/token-meter.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Backend } from '../gateway/backend.ts';
import { isUnwritable } from '../core/lib/is-unwritable.ts';
import type { Caller } from '../core/caller.ts';
import type { Logger } from '../observability/log.ts';
import type { LearnedShapes } from '../exposure/results/learned-shapes.ts';
import type { OversizedResults } from '../exposure/results/oversized-results.ts';
import { HeaderParamCache } from '../protocol/http/param-headers.ts';
import { StdioServerTransport } from '../protocol/stdio/stdio-server-transport.ts';
import type { ClientChannel } from '../protocol/client-connection.ts';
import { MAX_MESSAGE_BYTES } from './app-options.ts';
import type { AppOptions } from './app-options.ts';
import type { CallerAuth } from '../auth/caller-auth.ts';
import type { DashboardServer } from './dashboard-server.ts';
import { Exposures } from './exposures.ts';
import { openHttpListener } from './http-listener.ts';
import type { createManagementToolDecorator } from './management-tools.ts';
import type { Store } from './open-store.ts';
import type { VariableExchange } from './socket/variable-exchange.ts';

/** Accepts clients. During shutdown, it first stops accepting, and is closed after the calls in flight have finished. */
export interface ClientListener extends AsyncDisposable {
  readonly url: string | undefined;
  /** Number of connected client sessions. */
  clients(): number;
  /** Announces the shutdown to load balancers, continues to serve for `forMs` milliseconds, then refuses new connections. */
  drain?(forMs: number): Promise<void>;
  stopAccepting(): void;
  /** Prevents the idle exit until the result is disposed, for users that are not clients, such as the dashboard. */
  keepRunning?(): Disposable;
  /** Prepares the next configuration and returns a function that activates it. Rejects if the listener cannot use it. */
  prepare?(next: ConfigSnapshot, diff: ConfigDiff): Promise<() => void>;
  /** Makes this gateway stop as soon as its last client has left, because another gateway has replaced it. */
  retire?(): void;
  /** Resolves when all responses have been written. The gateway itself waits for the calls. */
  drained(): Promise<void>;
}

export interface ListenerDeps {
  readonly gateway: Gateway;
  readonly log: Logger;
  readonly results: OversizedResults;
  readonly sandbox: LazySandbox;
  readonly shapes: LearnedShapes;
  readonly admin: () => Promise<AdminRoutes>;
  readonly callers: CallerAuth;
  readonly store: Store;
  /** The key of this gateway or its fleet. */
  readonly key: KeySource;
  /** The other replicas of the fleet; undefined without a fleet. */
  readonly others: ReplicaBus | undefined;
  readonly dashboard: DashboardServer;
  readonly meter: TokenMeter;
  readonly clients: ConnectedClients;
  readonly variables: VariableExchange;
  readonly metricsText: () => string | undefined;
  readonly signIns: SignInOffers;
  /** Adds the tools for managing servers to the tools that a caller sees. */
  readonly addManagementTools: ReturnType<typeof createManagementToolDecorator>;
  /** Reads the configuration file now. */
  readonly reload: () => Promise<void>;
  /** Called when the gateway should stop: its only stdio client has left, it was idle for too long, or a command asked it to stop. */
  readonly onEnd: () => void;
}

interface ConnectOptions {
  readonly backend?: Backend | undefined;
  /** The path at which the client connected; a parked call continues at the same path. */
  readonly endpoint?: string;
  /** Whether the connection lives as long as the client's session, as over stdio. */
  readonly isConnection?: boolean;
  readonly expose?: AppOptions['expose'];
  readonly stored?: StoredSession | undefined;
}

export type ConnectClient = (
  caller: Caller,
  channel: ClientChannel,
  options?: ConnectOptions,
) => SessionConnection;

/**
 * Opens the listeners of this process: standard input and output, HTTP, or the socket of the user's gateway. `serve --http` also opens the
 * socket.
 */
export async function openClientListeners(
  options: AppOptions,
  config: () => ConfigSnapshot,
  deps: ListenerDeps,
): Promise<ClientListener> {
  if (options.listen === 'none') return NO_LISTENER;
  const parked = new ParkedCalls({
    get ttlMs() {
      return config().value.maxCallMs;
    },
    replicas: deps.others,
  });
  const connect = createConnector(options, config, { ...deps, parked });
  if (options.listen !== 'socket' && options.http === undefined) {
    const backend = options.wrapped && deps.gateway.singleServer(options.wrapped.name);
    return openStdioListener(options, { connect, parked, backend, ...deps });
  }
  const listeners: ClientListener[] = [];
  if (options.listen !== 'socket')
    listeners.push(await openHttpListener(options, config, { ...deps, connect, parked }));
  const { socket } = options;
  if (socket !== undefined) {
    const { openSocket } = await import('./socket/open-socket.ts');
    const opened = await openSocket(socket, { ...deps, options, config, connect, parked }).catch(
      (error: unknown) => {
        if (options.listen === 'socket' || !isUnwritable(error)) throw error;
        const text =
          'Commands and stdio clients cannot find this gateway, because the state folder is not writable.';
        deps.log.warn(text, { reason: String(error) });
      },
    );
    if (opened !== undefined) listeners.push(opened);
  }
  return combineListeners(listeners);
}

/** Combines several listeners, such as HTTP and the socket, into one. Its URL is that of the first listener. */
function combineListeners(listeners: readonly ClientListener[]): ClientListener {
  return {
    url: listeners[0]?.url,
    clients: () => listeners.reduce((sum, listener) => sum + listener.clients(), 0),
    drain: async (forMs) =>
      void (await Promise.all(listeners.map(async (listener) => listener.drain?.(forMs)))),
    stopAccepting: () => {
      for (const listener of listeners) listener.stopAccepting();
    },
    prepare: async (next, diff) => {
      const activations = await Promise.all(
        listeners.map(async (listener) => listener.prepare?.(next, diff)),
      );
      return () => activations.forEach((activate) => activate?.());
    },
    retire: () => {
      for (const listener of listeners) listener.retire?.();
    },
    keepRunning: () => {
      const disposables = listeners.map((listener) => listener.keepRunning?.());
      return { [Symbol.dispose]: () => disposables.forEach((disposable) => disposable?.[Symbol.dispose]()) };
    },
    drained: async () => void (await Promise.all(listeners.map((listener) => listener.drained()))),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(listeners.map((listener) => listener[Symbol.asyncDispose]()));
    },
  };
}

interface ConnectorDeps extends Pick<
  ListenerDeps,
  | 'addManagementTools'
  | 'gateway'
  | 'log'
  | 'results'
  | 'sandbox'
  | 'shapes'
  | 'signIns'
  | 'meter'
  | 'clients'
  | 'others'
> {
  readonly parked: ParkedCalls;
}

function createConnector(
  options: AppOptions,
  config: () => ConfigSnapshot,
  deps: ConnectorDeps,
): ConnectClient {
  const { gateway, log, parked, signIns, meter, clients } = deps;
  const lists = new ListCache();
  const headerParams = new HeaderParamCache();
  const { version } = options;
  const exposures = new Exposures({ ...deps, config, search: gateway.search });
  const onListed: TokenMeter['recordListing'] = (...sent) => meter.recordListing(...sent);
  const exposureVersion = (): object => exposures.version;
  const choiceOf = (caller: Caller, requested: ConnectOptions['expose']): ExposureChoice => {
    const choose = deps.addManagementTools(caller, exposures.of(caller.profile, requested, options.expose));
    return (view, client) => meter.withMetering(choose(view, client));
  };
  // A modern HTTP client connects with every request. Choosing its exposure took 160 µs of the 220 µs per request, so the choice is cached for each caller.
  const defaultChoices = new WeakMap<Caller, ExposureChoice>();
  const defaultChoiceOf = (caller: Caller): ExposureChoice => {
    let choice = defaultChoices.get(caller);
    if (choice === undefined) defaultChoices.set(caller, (choice = choiceOf(caller, undefined)));
    return choice;
  };
  return (
    caller,
    channel,
    { backend = gateway, endpoint = '', isConnection = false, expose: requested, stored } = {},
  ) => {
    // A single server keeps its own names, and its list is never shortened.
    const isSingleServer = backend !== gateway;
    const chosen = requested === undefined ? defaultChoiceOf(caller) : choiceOf(caller, requested);
    return createClientSession({
      backend,
      exposure: isSingleServer ? directExposure : chosen,
      onListed: isSingleServer ? undefined : onListed,
      exposureVersion,
      caller,
      channel,
      lists,
      parked,
      clients,
      headerParams,
      endpoint,
      isConnection,
      stored,
      // Only a stored session may continue at another replica.
      replica: stored && deps.others?.self,
      signIns,
      log,
      version,
    });
  };
}

function openStdioListener(
  { stdin, stdout, profile = 'default', expose }: AppOptions,
  {
    connect,
    parked,
    backend,
    onEnd,
    log,
  }: {
    connect: ConnectClient;
    parked: ParkedCalls;
    backend: Backend | undefined;
    onEnd: () => void;
    log: Logger;
  },
): ClientListener {
  const caller: Caller = { id: 'local', via: 'stdio', profile };
  const stdio = new StdioServerTransport({
    stdin,
    stdout,
    connect: (channel) => connect(caller, channel, { backend, isConnection: true, expose }),
    maxMessageBytes: MAX_MESSAGE_BYTES,
    onEnd,
    onSlowClient: (unsentBytes) => {
      log.warn('Stopping, because the client did not read its responses.', { unsentBytes });
      stdio.cancelAll();
      onEnd();
    },
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

const NO_LISTENER: ClientListener = {
  url: undefined,
  clients: () => 0,
  stopAccepting: () => {},
  drained: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
