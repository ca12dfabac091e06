import { join } from 'node:path';
import type { ConfigSnapshot, GatewayConfig } from '../config/config.ts';
import { readConfigText } from '../config/load-config.ts';
import { ConfigReloader } from '../config/reload/config-reloader.ts';
import type { NextConfig } from '../config/reload/config-reloader.ts';
import type { ConfigState } from '../config/reload/config-state.ts';
import type { ConfigDiff } from '../config/reload/diff-config.ts';
import { FileWatcher } from '../config/reload/file-watcher.ts';
import { listReferencedFiles } from '../config/reload/referenced-files.ts';
import { untrustedConfigError } from '../config/file/untrusted-config-error.ts';
import { isTrustedText, TRUSTED_FILE } from '../config/file/config-trust.ts';
import type { LazySandbox } from '../exposure/code/lazy-sandbox.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { canonicalJson } from '../core/lib/canonical-json.ts';
import type { Caller } from '../core/caller.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { AuditTrail } from '../observability/audit/audit-trail.ts';
import type { Logger } from '../observability/log.ts';
import type { Guard } from '../policy/guard.ts';
import type { LearnedShapes } from '../exposure/results/learned-shapes.ts';
import type { OversizedResults } from '../exposure/results/oversized-results.ts';
import type { StoreLocation } from '../core/storage/store-location.ts';
import type { AppOptions } from './app-options.ts';
import { loadGuards } from './load-guards.ts';
import { computeSourceRevision, validateSource } from './load-config-snapshot.ts';
import { toAuditSettings } from './open-audit.ts';
import type { ClientListener } from './client-listeners.ts';
import type { Telemetry } from './open-telemetry.ts';
import type { GatewaySignIns } from '../auth/upstream/gateway-sign-ins.ts';

/** The parts of a running gateway that follow the configuration. */
export interface ReloadTargets {
  readonly use: (snapshot: ConfigSnapshot) => void;
  readonly place: StoreLocation;
  readonly gateway: Gateway;
  readonly guards: readonly Guard[];
  readonly listener: ClientListener;
  readonly audit: AuditTrail;
  readonly telemetry: Telemetry;
  readonly openTelemetry: (snapshot: ConfigSnapshot) => Promise<Telemetry>;
  readonly useTelemetry: (telemetry: Telemetry) => void;
  readonly results: OversizedResults;
  readonly shapes: LearnedShapes;
  readonly sandbox: LazySandbox;
  readonly signIns: GatewaySignIns;
  /** Stores the configuration for the next start and for commands that look for a gateway. */
  readonly remember: (snapshot: ConfigSnapshot, text: string) => Promise<void>;
  /** Adds servers from other gateways of the fleet to the text of the file; undefined without a fleet. */
  readonly shared: { text(): Promise<string> } | undefined;
  readonly log: Logger;
}

/** Settings that take effect while the gateway runs; all others are reported as needing a restart. */
const FOLLOWED: ReadonlySet<string> = new Set<keyof GatewayConfig>([
  ...(['upstreams', 'unusedTags'] as const),
  ...(['names', 'expose', 'http', 'search', 'results', 'callerLimits', 'redact'] as const),
  ...(['argumentRules', 'guards', 'profiles', 'policy', 'auth', 'audit', 'telemetry', 'metrics'] as const),
  ...(['code', 'startup', 'maxCallMs', 'shutdownMs', 'idleExitMs', 'log', 'management', 'readOnly'] as const),
]);

/** The caller in the audit records of reloads. The author of a change to the file is unknown. */
const FILE: Caller = { id: 'file', via: 'cli', profile: 'default' };

/** Applies changes of the configuration file while the gateway runs. */
export class GatewayReloader implements AsyncDisposable {
  readonly #options: AppOptions;
  readonly #parts: ReloadTargets;
  readonly #first: ConfigSnapshot;
  readonly #reload: ConfigReloader;
  readonly #watch: FileWatcher;
  #guards: readonly Guard[];
  #telemetry: Telemetry;
  /** Number of times that the guards were loaded again; a new number bypasses the module cache. */
  #reloadCount = 0;

  constructor(options: AppOptions, first: ConfigSnapshot, parts: ReloadTargets) {
    const { file, trustDir } = options;
    this.#options = options;
    this.#parts = parts;
    this.#first = first;
    this.#guards = parts.guards;
    this.#telemetry = parts.telemetry;
    this.#reload = new ConfigReloader({
      first,
      home: options.home,
      read: () => parts.shared?.text() ?? readConfigText(file),
      revisionOf: (text) => computeSourceRevision(options, text),
      validate: (text) => validateSource(options, text),
      checkTrust:
        trustDir === undefined
          ? undefined
          : async (text) => {
              // Trust concerns only the file itself. The API authorizes the servers that other gateways of the fleet add.
              const own = parts.shared === undefined ? text : await readConfigText(file);
              if (!(await isTrustedText(file, own, trustDir))) throw untrustedConfigError(file);
            },
      apply: (next) => this.#apply(next),
      onState: (state) => {
        if (state.problem !== undefined) this.#record(state.problem.code);
        parts.gateway.events.emit('config', state);
      },
      log: parts.log,
      now: Date.now,
    });
    const trusted = trustDir === undefined ? [] : [join(trustDir, TRUSTED_FILE)];
    this.#watch = new FileWatcher({
      files: () => [file, ...trusted, ...listReferencedFiles(this.#reload.snapshot, options.home)],
      onChange: () => this.#reload.reload(),
    });
    // The file may have changed since it was read at the start.
    void this.#reload.reload();
  }

  get state(): ConfigState {
    return this.#reload.state;
  }

  /** Reads the file now. Resolves when the configuration is in use, or when `state` contains the problem. */
  reload(): Promise<void> {
    return this.#reload.reload();
  }

  /** Stops watching, and waits for a reload in progress, because the reload uses parts that close later. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch[Symbol.dispose]();
    await this.#reload.close();
  }

  /** Applies a configuration as a whole or not at all, so the steps that can fail come first. Returns the settings that need a restart. */
  async #apply(next: NextConfig): Promise<readonly string[]> {
    const { snapshot, text, diff } = next;
    const { listener, gateway, signIns, shapes, log } = this.#parts;
    const isChanged = (...keys: (typeof diff.settings)[number][]): boolean =>
      keys.some((key) => diff.settings.includes(key));
    const activateListener = await listener.prepare?.(snapshot, diff);
    const guards = isChanged('guards')
      ? await loadGuards(snapshot.value.guards, {
          configFile: snapshot.file,
          importModule: this.#options.importModule,
          reloadCount: ++this.#reloadCount,
        })
      : this.#guards;
    const telemetry = isChanged('audit', 'telemetry', 'metrics')
      ? await this.#parts.openTelemetry(snapshot)
      : this.#telemetry;
    // From here on the configuration is in use, so later failures are only logged.
    this.#parts.use(snapshot);
    activateListener?.();
    this.#adjust(snapshot, isChanged);
    this.#guards = guards;
    const before = this.#telemetry;
    this.#telemetry = telemetry;
    this.#parts.useTelemetry(telemetry);
    const { callObserver, isTracing } = telemetry;
    const later = (what: string) => (error: unknown) =>
      log.warn('The changed configuration is in use, but a follow-up step failed.', {
        what,
        reason: String(error),
      });
    await gateway
      .apply({ snapshot, diff, customGuards: guards, callObserver, isTracing })
      .catch(later('approvals'));
    await signIns.forget(diff.gone).catch(later('tokens'));
    await shapes.forget(diff.gone).catch(later('shapes'));
    await this.#parts.remember(snapshot, text).catch(later('run/gateway.json'));
    if (before !== telemetry) void before.close().catch(later('telemetry'));
    this.#record(undefined, diff);
    return this.#needsRestart(snapshot.value);
  }

  /** Records a reload in the audit trail. Changes through the API have a record of their own. */
  #record(code: ErrorCode | undefined, diff?: ConfigDiff): void {
    this.#parts.audit.record({
      kind: 'config',
      action: 'reload',
      caller: FILE,
      outcome: code === undefined ? 'ok' : 'refused',
      code,
      details: {
        file: this.#options.file,
        ...diff,
      },
    });
  }

  #adjust(
    { value }: ConfigSnapshot,
    isChanged: (...keys: Exclude<keyof GatewayConfig, 'upstreams'>[]) => boolean,
  ): void {
    const { place, audit, results, sandbox, log } = this.#parts;
    if (isChanged('audit')) audit.reconfigure(toAuditSettings({ ...this.#options, place }, value, log));
    if (isChanged('results')) results.adjust(value.results);
    if (isChanged('code')) sandbox.adjust(value.code);
  }

  /** Returns the settings that need a restart: those that differ from the configuration at the start. */
  #needsRestart(value: GatewayConfig): readonly string[] {
    const first = this.#first.value;
    const isAddress = this.#options.http === true && first.http.address !== value.http.address;
    const others = Object.keys({ ...first, ...value }).filter((key) => {
      const name = key as keyof GatewayConfig; // Keys of both are keys of a configuration.
      return !FOLLOWED.has(key) && canonicalJson(first[name]) !== canonicalJson(value[name]);
    });
    return [...(isAddress ? ['http.address'] : []), ...others];
  }
}
