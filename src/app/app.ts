import type { AdminRoutes } from '../admin/admin-routes.ts';
import type { CallersConfig } from '../config/callers-config.ts';
import type { ConfigWarning } from '../config/config.ts';
import { readConfigText } from '../config/load-config.ts';
import { deferred } from '../core/lib/deferred.ts';
import { Scope } from '../core/lib/scope.ts';
import { monotonicNow } from '../core/lib/monotonic-now.ts';
import { createSeenClientRecorder } from '../setup/connect/seen-clients.ts';
import { ConnectedClients } from '../downstream/connected-clients.ts';
import { SignInOffers } from '../downstream/questions/sign-in-offers.ts';
import { LazySandbox } from '../exposure/code/lazy-sandbox.ts';
import { LearnedShapes } from '../exposure/results/learned-shapes.ts';
import { OversizedResults } from '../exposure/results/oversized-results.ts';
import { estimateTokens } from '../exposure/estimate-tokens.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { GatewayAnnouncement } from './announce-gateway.ts';
import type { AppOptions } from './app-options.ts';
import { buildGateway } from './build-gateway.ts';
import type { BuiltGateway } from './build-gateway.ts';
import { CallerAuth } from '../auth/caller-auth.ts';
import { DashboardServer } from './dashboard-server.ts';
import { createLazyAdmin } from './lazy-admin.ts';
import { createManagementToolDecorator } from './management-tools.ts';
import { openManagement } from './open-management.ts';
import { openFoundation } from './open-foundation.ts';
import type { Foundation } from './open-foundation.ts';
import { openClientListeners } from './client-listeners.ts';
import type { ClientListener } from './client-listeners.ts';
import { openTelemetry } from './open-telemetry.ts';
import { readStartConfig } from './read-start-config.ts';
import { Runtime } from './runtime.ts';
import { createFleetBus } from '../fleet/fleet-bus.ts';
import { shutDown } from './shutdown.ts';
import { VariableExchange } from './socket/variable-exchange.ts';

export interface App {
  readonly gateway: Gateway;
  /** The address of `/mcp` for HTTP clients. */
  readonly url: string | undefined;
  /** The authentication methods for HTTP callers; undefined if none is required. */
  readonly auth: CallersConfig | undefined;
  readonly warnings: readonly ConfigWarning[];
  /** The admin API, loaded when it is first used. */
  admin(): Promise<AdminRoutes>;
  stop(): void;
  readonly stopped: Promise<void>;
}

/**
 * Starts a gateway. This is the composition root, the only place that depends on every folder. It builds the parts from the bottom up into
 * one scope; a shutdown closes them in reverse order (`shutdown.ts`).
 */
export async function startApp(options: AppOptions): Promise<App> {
  const start = await readStartConfig(options);
  const runtime = new Runtime(start.snapshot, options.env);
  const log = options.logger(() => runtime.snapshot.value.log.level);
  const scope = new Scope((error) => log.error('Closing failed.', { reason: String(error) }));
  try {
    const foundation = await openFoundation(options, runtime, { start, scope, log });
    const built = await buildGateway(options, runtime, foundation);
    const { gateway, signIns, leaveFleet } = built;
    const stopRequest = deferred<void>();
    const stop = (): void => stopRequest.resolve();
    // The handler is registered before any client can find the gateway and stop it.
    options.onStopSignal?.(stop);
    const services = openServices(options, runtime, { foundation, built, stop });
    const { sandbox, admin } = services;
    const listener = await openListeners(options, runtime, { foundation, built, services, stop });
    gateway.start(options.listen === 'none' ? 'on-demand' : 'at-once');
    const stopped = stopRequest.promise.then(() =>
      shutDown({ config: runtime.config, listener, signIns, sandbox, gateway, leaveFleet, scope }),
    );
    const announced = await openAnnouncement(options, { foundation, listener });
    await followConfig(options, runtime, { foundation, built, services, listener, announced });
    const { value, warnings } = start.snapshot;
    return { gateway, url: listener.url, auth: value.auth, warnings, admin, stop, stopped };
  } catch (error) {
    await scope[Symbol.asyncDispose]();
    throw error;
  }
}

/** The parts beside the gateway that serve clients and operators. */
interface Services {
  readonly results: OversizedResults;
  readonly shapes: LearnedShapes;
  readonly sandbox: LazySandbox;
  readonly callers: CallerAuth;
  readonly dashboard: DashboardServer;
  readonly clients: ConnectedClients;
  readonly variables: VariableExchange;
  readonly admin: () => Promise<AdminRoutes>;
  /** Adds the tools for managing servers to the tools that a caller sees. */
  readonly addManagementTools: ReturnType<typeof createManagementToolDecorator>;
}

function openServices(
  options: AppOptions,
  runtime: Runtime,
  {
    foundation,
    built,
    stop,
  }: { readonly foundation: Foundation; readonly built: BuiltGateway; readonly stop: () => void },
): Services {
  const { scope, log, audit, store, fleet, meter, sharedServers, start } = foundation;
  const { gateway, signIns, secrets, pause, serverLogs, restartOnOwner } = built;
  const { config, openAdmin: admin } = runtime;
  const [results, shapes] = [openResults(foundation), openShapes(runtime, foundation)];
  const { maxScripts, memoryMb } = start.snapshot.value.code;
  const sandbox = scope.use(
    new LazySandbox({ worker: options.codeWorker, maxScripts, memoryMb, now: monotonicNow }),
  );
  const callers = new CallerAuth(config, { scope, audit, log, store });
  const management = openManagement(options, {
    config,
    audit,
    serverLogs,
    reload: () => runtime.reloader,
    url: runtime.url,
    shared: sharedServers,
    isApproved: (name, fingerprint) => gateway.heldEntries.isServerApproved(name, fingerprint),
  });
  const dashboard = openDashboard(options, runtime, foundation);
  const clients = new ConnectedClients(Date.now, createSeenClientRecorder(options.stateDir));
  const variables = new VariableExchange({
    variables: runtime.variables,
    config,
    clients: runtime.clients,
    isBackground: options.listen === 'socket',
    reopen: (names) => gateway.reopen(names),
    log,
  });
  runtime.admin = createLazyAdmin(options, runtime, {
    clients,
    variables,
    gateway,
    audit,
    signIns,
    secrets,
    fleet,
    restartOnOwner,
    callers,
    pause,
    management,
    dashboard,
    meter,
    scope,
    log,
    stop,
  });
  const addManagementTools = createManagementToolDecorator({ config, gateway, audit, management });
  return { results, shapes, sandbox, callers, dashboard, clients, variables, admin, addManagementTools };
}

function openDashboard(options: AppOptions, runtime: Runtime, foundation: Foundation): DashboardServer {
  const { scope, store, fleet, key, audit, log } = foundation;
  return scope.use(
    new DashboardServer(options, {
      admin: runtime.openAdmin,
      publicUrl: () => runtime.config().value.http.publicUrl,
      keepRunning: runtime.keepRunning,
      store,
      fleet,
      key,
      audit,
      log,
    }),
  );
}

/** Opens the store of results that are too long for a model. A fleet keeps them in its database, a single gateway in memory. */
function openResults({ scope, store, start }: Foundation): OversizedResults {
  const results = new OversizedResults({
    ...start.snapshot.value.results,
    database: store.place.server && store.database,
    estimate: estimateTokens,
    now: Date.now,
  });
  scope.defer(() => results[Symbol.dispose]());
  return results;
}

function openShapes({ config }: Runtime, { scope, store, log }: Foundation): LearnedShapes {
  const { database, isStored } = store;
  const isEnabled = (): boolean => config().value.results.learnShapes;
  const clock = (): number => performance.now();
  return scope.use(new LearnedShapes({ database, isStored, isEnabled, now: Date.now, clock, log }));
}

interface OpenParts {
  readonly foundation: Foundation;
  readonly built: BuiltGateway;
  readonly services: Services;
}

async function openListeners(
  options: AppOptions,
  runtime: Runtime,
  { foundation, built, services, stop }: OpenParts & { readonly stop: () => void },
): Promise<ClientListener> {
  const { scope, log, store, key, fleet, meter } = foundation;
  const { gateway, signIns } = built;
  const listener = await openClientListeners(options, runtime.config, {
    ...services,
    gateway,
    log,
    store,
    key,
    meter,
    others: fleet && createFleetBus(fleet),
    metricsText: () => runtime.telemetry?.metricsText?.(),
    reload: async () => runtime.reloader?.reload(),
    signIns: new SignInOffers({
      startSignIn: (server, caller) => signIns.start(server, caller),
      isLocal: ({ via }) => via !== 'http' || isLoopback(runtime.url()),
      now: Date.now,
    }),
    onEnd: stop,
  });
  runtime.listener = scope.use(listener);
  return listener;
}

/** Writes the record by which commands and pipes find this gateway. Resolves with undefined if the gateway has no socket. */
async function openAnnouncement(
  options: AppOptions,
  { foundation, listener }: { readonly foundation: Foundation; readonly listener: ClientListener },
): Promise<GatewayAnnouncement | undefined> {
  const { socket } = options;
  if (socket === undefined) return undefined;
  const { scope, log, start } = foundation;
  const { announceGateway } = await import('./announce-gateway.ts');
  const onReplaced = (): void => listener.retire?.();
  return scope.use(
    announceGateway(options, { socket, text: start.text, url: listener.url, log, onReplaced }),
  );
}

/** Applies changes of the configuration file while the gateway runs. Does nothing without a file or without clients. */
async function followConfig(
  options: AppOptions,
  runtime: Runtime,
  parts: OpenParts & {
    readonly listener: ClientListener;
    readonly announced: GatewayAnnouncement | undefined;
  },
): Promise<void> {
  if (options.text !== undefined || options.listen === 'none') return;
  const { foundation, built, services, listener, announced } = parts;
  const { scope, log, audit, store, sharedServers, telemetry } = foundation;
  const { gateway, guards, signIns } = built;
  const { GatewayReloader } = await import('./gateway-reloader.ts');
  const reloader = new GatewayReloader(options, runtime.snapshot, {
    gateway,
    guards,
    listener,
    audit,
    telemetry,
    results: services.results,
    shapes: services.shapes,
    sandbox: services.sandbox,
    signIns,
    place: store.place,
    shared: sharedServers,
    log,
    use: (next) => void (runtime.snapshot = next),
    openTelemetry: (next) => openTelemetry(options, next, { audit, log, runtime }),
    useTelemetry: (next) => void (runtime.telemetry = next),
    remember: async (used, changed) => {
      built.saveForWarmStart(used);
      // With a fleet, `changed` includes servers from other gateways, but commands compare the record with the file itself.
      announced?.updateConfigText(sharedServers === undefined ? changed : await readConfigText(options.file));
    },
  });
  runtime.reloader = scope.use(reloader);
  store.follow('runtime-servers', () => void reloader.reload());
}

/** Whether only this machine can reach the address. Without an HTTP address, all clients are local. */
function isLoopback(url: string | undefined): boolean {
  if (url === undefined) return true;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
