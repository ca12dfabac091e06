import type { AdminRoutes } from '../admin/routes.ts';
import { readWarm } from '../catalog/warm-file.ts';
import type { CallersConfig } from '../config/callers-config.ts';
import type { ConfigSnapshot, ConfigWarning } from '../config/config.ts';
import { readConfigAtStart, readConfigText } from '../config/load.ts';
import { SignInOffers } from '../downstream/sign-in-offers.ts';
import { LazySandbox } from '../exposure/code/lazy-sandbox.ts';
import { estimateTokens } from '../exposure/tokens.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { deferred } from '../lib/deferred.ts';
import { IdleCollection } from '../lib/idle-collection.ts';
import { Scope } from '../lib/scope.ts';
import { steadyNow } from '../lib/steady-now.ts';
import { withinMs } from '../lib/within-ms.ts';
import { Results } from '../results/results.ts';
import { GatewayError } from '../model/errors.ts';
import type { Announced } from './announce.ts';
import type { AppOptions } from './app-options.ts';
import { buildGateway } from './build-gateway.ts';
import { Callers } from './callers/callers.ts';
import { Dashboard } from './callers/dashboard.ts';
import { instanceKey } from './instance-key.ts';
import { lazyAdmin } from './lazy-admin.ts';
import { openAudit } from './open-audit.ts';
import { managementTools } from './managing/management-tools.ts';
import { openFront } from './open-front.ts';
import { openManagement } from './managing/open-management.ts';
import { openStore, storePlace } from './open-store.ts';
import { openMeter } from './open-meter.ts';
import { openTelemetry } from './open-telemetry.ts';
import type { Telemetry } from './open-telemetry.ts';
import type { Front } from './open-front.ts';
import { loadSnapshot } from './load-snapshot.ts';
import { profileProblem } from './profile-problem.ts';
import type { Reloading } from './reloading.ts';
import { othersOf } from './sessions/others-of.ts';
import { openSharedServers, withSharedServers } from './managing/open-shared-servers.ts';
import { openFleetOf } from './sharing/open-fleet.ts';

export interface App {
  readonly gateway: Gateway;
  /** Where HTTP clients find us. */
  readonly url: string | undefined;
  /** How callers over HTTP prove who they are; undefined when nobody is asked. */
  readonly auth: CallersConfig | undefined;
  readonly warnings: readonly ConfigWarning[];
  /** The admin API, loaded when first asked for. */
  admin(): Promise<AdminRoutes>;
  stop(): void;
  readonly stopped: Promise<void>;
}

/** The only place that knows every folder. Builds from the bottom up; stopping is the reverse. */
export async function startApp(options: AppOptions): Promise<App> {
  const { stateDir } = options;
  let isDamaged = false;
  const warm = readWarm(stateDir, options.build, () => (isDamaged = true));
  const text = options.text ?? (await readConfigAtStart(options.file));
  if (options.trustedIn !== undefined) await checkTrust(options.file, text, options.trustedIn);
  const snapshot = await loadSnapshot(options, text, warm);
  const config = snapshot.value;
  // What is in use; whoever asks again later may get another one.
  let inUse = snapshot;
  const current = (): ConfigSnapshot => inUse;
  const wrong = profileProblem(options.profile, config);
  if (wrong !== undefined) throw new GatewayError('USAGE', wrong);
  const log = options.logger(() => current().value.log.level);
  if (isDamaged) log.warn('The catalog of the last run is damaged; starting without it.', { stateDir });
  const scope = new Scope((error) => log.error('Closing failed.', { reason: String(error) }));
  try {
    // Opened first, closed last: what is ended by stopping is recorded, too.
    const place = await storePlace(options, snapshot);
    const audit = scope.use(openAudit({ ...options, place }, config, log));
    const store = openStore(place, { scope, log });
    const meter = scope.use(openMeter(audit, Date.now));
    const collection = new IdleCollection();
    scope.defer(() => collection[Symbol.dispose]());
    const telemetryOf = (of: ConfigSnapshot): Promise<Telemetry> =>
      openTelemetry(options, of, {
        ...{ audit, log, gateway: () => gateway, clients: () => front.clients() },
      });
    let telemetry = await telemetryOf(snapshot);
    scope.defer(() => telemetry.close());
    const key = instanceKey(options, snapshot);
    const servers = await openSharedServers(options, { store, key, log });
    if (servers !== undefined) inUse = await withSharedServers(options, { servers, text, snapshot, log });
    const fleet = await openFleetOf(options, config, { store, key, scope, log });
    const built = await buildGateway(options, current, { scope, log, warm, telemetry, store, key, fleet });
    const { gateway, signIns, pause } = built;
    const ended = deferred<void>();
    const shared = place.server && store.database;
    const results = new Results({
      ...{ ...config.results, database: shared, estimate: estimateTokens, now: Date.now },
    });
    scope.defer(() => results[Symbol.dispose]());
    const { maxScripts, memoryMb } = config.code;
    const sandbox = scope.use(
      new LazySandbox({ worker: options.codeWorker, maxScripts, memoryMb, now: steadyNow }),
    );
    const stop = (): void => ended.resolve();
    // Before anybody can know that we are there, who may then ask us to end.
    options.onStopSignal?.(stop);
    const callers = new Callers(current, { scope, audit, log, store });
    let reloading: Reloading | undefined;
    const management = openManagement(options, {
      ...{ config: current, audit, serverLogs: built.serverLogs, reload: () => reloading },
      url: () => front.url,
      shared: servers,
      isApproved: (name, fingerprint) => gateway.quarantine.isApproved(name, fingerprint),
    });
    const beside = managementTools({ config: current, gateway, audit, management });
    const dashboard = scope.use(
      new Dashboard(options, {
        admin: () => admin(),
        publicUrl: () => current().value.http.publicUrl,
        stay: () => front.stay?.() ?? { [Symbol.dispose]: () => {} },
        ...{ store, fleet, key, audit, log },
      }),
    );
    const admin = lazyAdmin(options, {
      ...{
        gateway,
        config: current,
        reload: () => reloading,
        audit,
        signIns,
        fleet,
        restartElsewhere: built.restartElsewhere,
        callers,
        pause,
        management,
        dashboard,
        meter,
        scope,
        front: () => front,
        log,
        stop,
      },
    });
    const front: Front = await openFront(options, current, {
      ...{ gateway, log, results, sandbox, admin, onEnd: stop, callers, store, key },
      others: fleet && othersOf(fleet),
      metricsText: () => telemetry.metricsText?.(),
      reload: async () => reloading?.look(),
      ...{ dashboard, meter, beside },
      signIns: new SignInOffers({
        begin: (server, caller) => signIns.begin(server, caller),
        isHere: ({ via }) => via !== 'http' || isLoopback(front.url),
        now: Date.now,
      }),
    });
    scope.use(front);
    gateway.start(options.listen === 'nobody' ? 'on-demand' : 'at-once');
    const stopped = ended.promise.then(async () => {
      const { shutdownMs, http } = current().value;
      if (http.drainMs > 0) await front.drain?.(http.drainMs);
      front.stopAccepting();
      const until = performance.now() + shutdownMs;
      // Calls that wait for one are answered now.
      void signIns[Symbol.asyncDispose]();
      await withinMs(Promise.all([front.drained(), sandbox.drained()]), shutdownMs);
      await withinMs(built.leave(), Math.max(0, until - performance.now()));
      await gateway.drain(Math.max(0, until - performance.now()));
      // While the front is open, so that whoever waits for a script is told.
      await sandbox[Symbol.asyncDispose]();
      await scope[Symbol.asyncDispose]();
    });
    const { url } = front;
    const { socket } = options;
    let announced: Announced | undefined;
    if (socket !== undefined) {
      const { announce } = await import('./announce.ts');
      const onReplaced = (): void => front.retire?.();
      announced = scope.use(announce(options, { socket, text, url, log, onReplaced }));
    }
    if (options.text === undefined && options.listen !== 'nobody') {
      const { Reloading: Loaded } = await import('./reloading.ts');
      const { guards } = built;
      reloading = new Loaded(options, inUse, {
        shared: servers,
        ...{ place, gateway, guards, front, audit, telemetry, results, sandbox, signIns, log },
        use: (next) => void (inUse = next),
        openTelemetry: telemetryOf,
        useTelemetry: (next) => void (telemetry = next),
        remember: async (used, changed) => {
          built.remember(used);
          announced?.runsWith(servers === undefined ? changed : await readConfigText(options.file));
        },
      });
      scope.use(reloading);
      store.follow('runtime-servers', () => void reloading?.look());
    }
    return { gateway, url, auth: config.auth, warnings: snapshot.warnings, admin, stop, stopped };
  } catch (error) {
    await scope[Symbol.asyncDispose]();
    throw error;
  }
}

/** A file of a project is run as the person has read it, and not as it became since. */
async function checkTrust(file: string, text: string, trustedIn: string): Promise<void> {
  const [{ isTrustedText }, { untrusted }] = await Promise.all([
    import('../config/file/trust.ts'),
    import('../config/reload/untrusted.ts'),
  ]);
  if (!(await isTrustedText(file, text, trustedIn))) throw untrusted(file);
}

/** Whether whoever reaches this address sits at this machine, or came through something that does. */
function isLoopback(url: string | undefined): boolean {
  if (url === undefined) return true;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
