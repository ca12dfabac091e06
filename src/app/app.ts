import { readWarm } from '../catalog/warm-file.ts';
import type { WarmState } from '../catalog/warm-file.ts';
import type { ConfigSnapshot, ConfigWarning } from '../config/config.ts';
import { configRevision, readConfigText } from '../config/load.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { deferred } from '../lib/deferred.ts';
import { Scope } from '../lib/scope.ts';
import type { AppOptions } from './app-options.ts';
import { buildGateway } from './build-gateway.ts';
import { openFront } from './open-front.ts';

export interface App {
  readonly gateway: Gateway;
  /** Where HTTP clients find us. */
  readonly url: string | undefined;
  readonly warnings: readonly ConfigWarning[];
  stop(): void;
  readonly stopped: Promise<void>;
}

/** The only place that knows every folder. Builds from the bottom up; stopping is the reverse. */
export async function startApp(options: AppOptions): Promise<App> {
  const { stateDir } = options;
  let isDamaged = false;
  const warm = readWarm(stateDir, options.version, () => (isDamaged = true));
  const snapshot = await loadSnapshot(options, warm);
  const config = snapshot.value;
  const log = options.logger(config.log.level);
  if (isDamaged) log.warn('The catalog of the last run is damaged; starting without it.', { stateDir });
  const scope = new Scope((error) => log.error('Closing failed.', { reason: String(error) }));
  try {
    const gateway = await buildGateway(options, snapshot, { scope, log, warm });
    const ended = deferred<void>();
    const front = scope.use(
      await openFront(options, snapshot, { gateway, log, onEnd: () => ended.resolve() }),
    );
    gateway.start();
    const stopped = ended.promise.then(async () => {
      front.stopAccepting();
      const until = Date.now() + config.shutdownMs;
      await withinMs(front.drained(), config.shutdownMs);
      await gateway.drain(Math.max(0, until - Date.now()));
      await scope[Symbol.asyncDispose]();
    });
    return { gateway, url: front.url, warnings: snapshot.warnings, stop: () => ended.resolve(), stopped };
  } catch (error) {
    await scope[Symbol.asyncDispose]();
    throw error;
  }
}

/** The same text under the same version means the same value, so that a warm start loads no parser and no schema. */
async function loadSnapshot(options: AppOptions, warm: WarmState | undefined): Promise<ConfigSnapshot> {
  const { file, version } = options;
  const text = await readConfigText(file);
  const revision = configRevision(text, version);
  // Our own file of this very version, written from a snapshot; paths in it depend on where the config lies.
  const remembered = warm?.config?.snapshot as ConfigSnapshot | undefined;
  if (warm?.config?.revision === revision && remembered?.file === file) return remembered;
  const { validateConfig } = await import('../config/validate.ts');
  return validateConfig({ file, text, revision });
}

function withinMs(promise: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
