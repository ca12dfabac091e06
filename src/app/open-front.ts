import type { AdminRoutes } from '../admin/routes.ts';
import type { KeySource } from '../auth/upstream/sealing/secret-key.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import type { ConfigDiff } from '../config/reload/diff-config.ts';
import { ListTexts } from '../downstream/lists.ts';
import { ParkedCalls } from '../downstream/parked-calls.ts';
import { servePeer } from '../downstream/serve-peer.ts';
import type { Others } from '../downstream/sessions/between/others.ts';
import type { KeptSession, SessionConnection } from '../downstream/sessions/kept-session.ts';
import type { SignInOffers } from '../downstream/sign-in-offers.ts';
import type { LazySandbox } from '../exposure/code/lazy-sandbox.ts';
import { direct } from '../exposure/direct.ts';
import type { ExposureChoice } from '../exposure/exposure.ts';
import type { TokenMeter } from '../exposure/token-meter.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Served } from '../gateway/served.ts';
import { isUnwritable } from '../lib/is-unwritable.ts';
import type { Caller } from '../model/caller.ts';
import type { Logger } from '../observe/log.ts';
import type { Results } from '../results/results.ts';
import { MirroredParams } from '../wire/http/mirrored-params.ts';
import { OwnStdio } from '../wire/stdio/own-stdio.ts';
import type { ClientChannel } from '../wire/serving.ts';
import { MAX_MESSAGE_BYTES } from './app-options.ts';
import type { AppOptions } from './app-options.ts';
import type { Callers } from './callers/callers.ts';
import type { Dashboard } from './callers/dashboard.ts';
import { Exposures } from './exposures.ts';
import { httpFront } from './http-front.ts';
import type { managementTools } from './managing/management-tools.ts';
import type { Store } from './open-store.ts';

/** What listens for clients: told to stop first, closed when calls have been drained. */
export interface Front extends AsyncDisposable {
  readonly url: string | undefined;
  /** Client sessions that are connected now. */
  clients(): number;
  /** Tells load balancers that it ends, and serves on for so long; new connections are refused afterwards. */
  drain?(forMs: number): Promise<void>;
  stopAccepting(): void;
  /** Somebody is here who is no client, for whom it does not end by itself. */
  stay?(): Disposable;
  /** Makes ready for another configuration, or throws; what it gives takes that into use. */
  prepare?(next: ConfigSnapshot, diff: ConfigDiff): Promise<() => void>;
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
  readonly store: Store;
  /** The secret of this gateway. */
  readonly key: KeySource;
  /** Gateways that serve the same clients, where there are any. */
  readonly others: Others | undefined;
  readonly dashboard: Dashboard;
  readonly meter: TokenMeter;
  readonly metricsText: () => string | undefined;
  readonly signIns: SignInOffers;
  /** Puts tools of our own beside what a caller is shown. */
  readonly beside: ReturnType<typeof managementTools>;
  /** Looks at the configuration file now. */
  readonly reload: () => Promise<void>;
  /** Clients are gone, or nobody has come for a long time. */
  readonly onEnd: () => void;
}

interface ConnectOptions {
  readonly served?: Served | undefined;
  /** Parked calls are continued where they were begun. */
  readonly place?: string;
  /** Whether what connects lasts as long as the client's session. */
  readonly isConnection?: boolean;
  readonly expose?: AppOptions['expose'];
  readonly kept?: KeptSession | undefined;
}

export type Connect = (caller: Caller, channel: ClientChannel, options?: ConnectOptions) => SessionConnection;

/** Standard input and output, HTTP, or the socket of the user's gateway; HTTP has the socket, too. */
export async function openFront(
  options: AppOptions,
  config: () => ConfigSnapshot,
  deps: FrontDeps,
): Promise<Front> {
  if (options.listen === 'nobody') return nobody;
  const parked = new ParkedCalls({
    get ttlMs() {
      return config().value.maxCallMs;
    },
    others: deps.others,
  });
  const connect = connector(options, config, { ...deps, parked });
  if (options.listen !== 'socket' && options.http === undefined) {
    const served = options.wrapped && deps.gateway.alone(options.wrapped.name);
    return stdioFront(options, { connect, parked, served, onEnd: deps.onEnd });
  }
  const fronts: Front[] = [];
  if (options.listen !== 'socket')
    fronts.push(await httpFront(options, config, { ...deps, connect, parked }));
  const { socket } = options;
  if (socket !== undefined) {
    const { openSocket } = await import('./socket/open-socket.ts');
    const opened = await openSocket(socket, { ...deps, options, config, connect, parked }).catch(
      (error: unknown) => {
        if (options.listen === 'socket' || !isUnwritable(error)) throw error;
        deps.log.warn('Commands and pipes do not find this gateway, since nothing can be written.', {
          reason: String(error),
        });
      },
    );
    if (opened !== undefined) fronts.push(opened);
  }
  return {
    url: fronts[0]?.url,
    clients: () => fronts.reduce((sum, front) => sum + front.clients(), 0),
    drain: async (forMs) => void (await Promise.all(fronts.map(async (front) => front.drain?.(forMs)))),
    stopAccepting: () => {
      for (const front of fronts) front.stopAccepting();
    },
    prepare: async (next, diff) => {
      const ready = await Promise.all(fronts.map(async (front) => front.prepare?.(next, diff)));
      return () => ready.forEach((take) => take?.());
    },
    retire: () => {
      for (const front of fronts) front.retire?.();
    },
    stay: () => {
      const held = fronts.map((front) => front.stay?.());
      return { [Symbol.dispose]: () => held.forEach((each) => each?.[Symbol.dispose]()) };
    },
    drained: async () => void (await Promise.all(fronts.map((front) => front.drained()))),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(fronts.map((front) => front[Symbol.asyncDispose]()));
    },
  };
}

function connector(
  options: AppOptions,
  config: () => ConfigSnapshot,
  deps: Pick<
    FrontDeps,
    'beside' | 'gateway' | 'log' | 'results' | 'sandbox' | 'signIns' | 'meter' | 'others'
  > & {
    readonly parked: ParkedCalls;
  },
): Connect {
  const { gateway, log, parked, signIns, meter } = deps;
  const lists = new ListTexts();
  const mirrored = new MirroredParams();
  const { version } = options;
  const exposures = new Exposures({ ...deps, config, search: gateway.search });
  const onListed: TokenMeter['listed'] = (...sent) => meter.listed(...sent);
  const edition = (): object => exposures.edition;
  const choiceOf = (caller: Caller, wanted: ConnectOptions['expose']): ExposureChoice => {
    const choose = deps.beside(caller, exposures.of(caller.profile, wanted, options.expose));
    return (view, client) => meter.metered(choose(view, client));
  };
  // A modern client over HTTP connects with every request: making its choice anew, with a table of weak keys, took 160 µs of 220.
  const usual = new WeakMap<Caller, ExposureChoice>();
  const usualOf = (caller: Caller): ExposureChoice => {
    let choice = usual.get(caller);
    if (choice === undefined) usual.set(caller, (choice = choiceOf(caller, undefined)));
    return choice;
  };
  return (
    caller,
    channel,
    { served = gateway, place = '', isConnection = false, expose: wanted, kept } = {},
  ) => {
    // A server that is served alone looks like itself, and its list is the only one there is.
    const isAlone = served !== gateway;
    const chosen = wanted === undefined ? usualOf(caller) : choiceOf(caller, wanted);
    return servePeer({
      gateway: served,
      exposure: isAlone ? direct : chosen,
      onListed: isAlone ? undefined : onListed,
      edition,
      caller,
      channel,
      lists,
      parked,
      mirrored,
      place,
      isConnection,
      kept,
      // Only what goes on elsewhere may be answered there.
      replica: kept && deps.others?.self,
      signIns,
      log,
      version,
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

const nobody: Front = {
  url: undefined,
  clients: () => 0,
  stopAccepting: () => {},
  drained: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
