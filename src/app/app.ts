import type { AdminRoutes } from '../admin/routes.ts';
import { readWarm } from '../catalog/warm-file.ts';
import type { WarmState } from '../catalog/warm-file.ts';
import type { CallersConfig } from '../config/callers-config.ts';
import type { ConfigSnapshot, ConfigWarning } from '../config/config.ts';
import { configRevision, readConfigText } from '../config/load.ts';
import { SignInOffers } from '../downstream/sign-in-offers.ts';
import { LazySandbox } from '../exposure/code/lazy-sandbox.ts';
import { estimateTokens } from '../exposure/tokens.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { deferred } from '../lib/deferred.ts';
import { Scope } from '../lib/scope.ts';
import { Results } from '../results/results.ts';
import { GatewayError } from '../model/errors.ts';
import type { AppOptions } from './app-options.ts';
import { buildGateway } from './build-gateway.ts';
import { Callers } from './callers/callers.ts';
import { lazyAdmin } from './lazy-admin.ts';
import { openAudit } from './open-audit.ts';
import { openFront } from './open-front.ts';
import { openTelemetry } from './open-telemetry.ts';
import type { Front } from './open-front.ts';
import { profileProblem } from './profile-problem.ts';

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
  const warm = readWarm(stateDir, options.version, () => (isDamaged = true));
  const text = options.text ?? (await readConfigText(options.file));
  const snapshot = await loadSnapshot(options, text, warm);
  const config = snapshot.value;
  const wrong = profileProblem(options.profile, config);
  if (wrong !== undefined) throw new GatewayError('USAGE', wrong);
  const log = options.logger(config.log.level);
  if (isDamaged) log.warn('The catalog of the last run is damaged; starting without it.', { stateDir });
  const scope = new Scope((error) => log.error('Closing failed.', { reason: String(error) }));
  try {
    // Opened first, closed last: what is ended by stopping is recorded, too.
    const audit = scope.use(openAudit(options, config, log));
    const telemetry = await openTelemetry(options, snapshot, {
      ...{ scope, audit, log, gateway: () => gateway, clients: () => front.clients() },
    });
    const { gateway, signIns } = await buildGateway(options, snapshot, { scope, log, warm, telemetry });
    const ended = deferred<void>();
    const results = new Results({ ...config.results, estimate: estimateTokens, now: Date.now });
    scope.defer(() => results[Symbol.dispose]());
    const { maxScripts, memoryMb } = config.code;
    const sandbox = scope.use(
      new LazySandbox({ worker: options.codeWorker, maxScripts, memoryMb, now: Date.now }),
    );
    const stop = (): void => ended.resolve();
    const callers = new Callers(options, snapshot, { scope, audit, log });
    const admin = lazyAdmin(options, {
      ...{ gateway, snapshot, audit, signIns, callers, front: () => front, log, stop },
    });
    const front: Front = await openFront(options, snapshot, {
      ...{ gateway, log, results, sandbox, admin, metricsText: telemetry.metricsText, onEnd: stop, callers },
      signIns: new SignInOffers({
        begin: (server, caller) => signIns.begin(server, caller),
        isHere: ({ via }) => via !== 'http' || isLoopback(front.url),
        now: Date.now,
      }),
    });
    scope.use(front);
    gateway.start(options.listen === 'nobody' ? 'on-demand' : 'at-once');
    const stopped = ended.promise.then(async () => {
      front.stopAccepting();
      const until = Date.now() + config.shutdownMs;
      // Calls that wait for one are answered now.
      void signIns[Symbol.asyncDispose]();
      await withinMs(Promise.all([front.drained(), sandbox.drained()]), config.shutdownMs);
      await gateway.drain(Math.max(0, until - Date.now()));
      // While the front is open, so that whoever waits for a script is told.
      await sandbox[Symbol.asyncDispose]();
      await scope[Symbol.asyncDispose]();
    });
    const { url } = front;
    const { socket } = options;
    if (socket !== undefined) {
      const { announce } = await import('./announce.ts');
      const onReplaced = (): void => front.retire?.();
      scope.use(await announce(options, { socket, text, url, log, onReplaced }));
    }
    return { gateway, url, auth: config.auth, warnings: snapshot.warnings, admin, stop, stopped };
  } catch (error) {
    await scope[Symbol.asyncDispose]();
    throw error;
  }
}

/** The same text under the same version means the same value, so that a warm start loads no parser and no schema. */
async function loadSnapshot(
  { file, version, servers }: AppOptions,
  text: string,
  warm: WarmState | undefined,
): Promise<ConfigSnapshot> {
  const revision = configRevision(
    servers === undefined ? text : `${text}\0${JSON.stringify(servers)}`,
    version,
  );
  // Our own file of this very version, written from a snapshot; paths in it depend on where the config lies.
  const remembered = warm?.config?.snapshot as ConfigSnapshot | undefined;
  if (warm?.config?.revision === revision && remembered?.file === file) return remembered;
  const { validateConfig } = await import('../config/validate.ts');
  return validateConfig({ file, text, revision, servers });
}

function withinMs(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Whether whoever reaches this address sits at this machine, or came through something that does. */
function isLoopback(url: string | undefined): boolean {
  if (url === undefined) return true;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
