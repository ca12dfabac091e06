import type { ConfigSnapshot } from '../config/config.ts';
import { ListTexts } from '../downstream/lists.ts';
import { ParkedCalls } from '../downstream/parked-calls.ts';
import { servePeer } from '../downstream/serve-peer.ts';
import { chooseExposure } from '../exposure/choose-exposure.ts';
import { direct } from '../exposure/direct.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Served } from '../gateway/served.ts';
import type { Caller } from '../model/caller.ts';
import type { Logger } from '../observe/log.ts';
import { OwnStdio } from '../wire/own-stdio.ts';
import type { ClientChannel, Connection } from '../wire/serving.ts';
import { MAX_MESSAGE_BYTES } from './app-options.ts';
import type { AppOptions } from './app-options.ts';

/** What listens for clients: told to stop first, closed when calls have been drained. */
export interface Front extends AsyncDisposable {
  readonly url: string | undefined;
  stopAccepting(): void;
  /** Everything that clients wait for has been answered; calls are the gateway's business. */
  drained(): Promise<void>;
}

/** Standard input and output, or HTTP. */
export async function openFront(
  options: AppOptions,
  snapshot: ConfigSnapshot,
  deps: { readonly gateway: Gateway; readonly log: Logger; readonly onEnd: () => void },
): Promise<Front> {
  const { gateway, log } = deps;
  const { http } = snapshot.value;
  const lists = new ListTexts();
  const parked = new ParkedCalls({ ttlMs: snapshot.value.maxCallMs });
  const { version } = options;
  const { expose } = snapshot.value;
  const exposure = chooseExposure({ ...expose, kind: options.expose ?? expose.kind });
  const connect = (caller: Caller, channel: ClientChannel, served: Served = gateway): Connection =>
    servePeer({
      gateway: served,
      // A server that is served alone looks like itself.
      exposure: served === gateway ? exposure : direct,
      ...{ caller, channel, lists, parked, log, version },
    });
  if (options.http === undefined) {
    const caller: Caller = { id: 'local', via: 'stdio', profile: 'default' };
    const stdio = new OwnStdio({
      stdin: options.stdin,
      stdout: options.stdout,
      connect: (channel) => connect(caller, channel),
      maxMessageBytes: MAX_MESSAGE_BYTES,
      onEnd: deps.onEnd,
    });
    return {
      url: undefined,
      stopAccepting: () => {
        options.stdin.pause();
        parked.close();
      },
      drained: () => stdio.drained(),
      [Symbol.asyncDispose]: () => Promise.resolve(stdio.close()),
    };
  }
  const [{ mcpRoutes }, { listen }, { serverAt }] = await Promise.all([
    import('../downstream/http.ts'),
    import('../downstream/listen.ts'),
    import('../downstream/single-server.ts'),
  ]);
  const routes = mcpRoutes({
    ...http,
    connect: ({ caller, channel, path }) => {
      const server = serverAt(path);
      return connect(caller, channel, server === undefined ? gateway : gateway.alone(server));
    },
    hasServer: (name) => gateway.alone(name) !== undefined,
    log,
    isReady: () => true,
  });
  const listener = await listen({
    address: options.http === true ? http.address : options.http,
    routes,
    log,
  });
  return {
    url: new URL('/mcp', listener.url).href,
    stopAccepting: () => {
      routes.stopAccepting();
      parked.close();
    },
    drained: () => Promise.resolve(),
    [Symbol.asyncDispose]: async () => {
      await routes[Symbol.asyncDispose]();
      await listener.close();
    },
  };
}
