import { join } from 'node:path';
import type { ConfigSnapshot, GatewayConfig } from '../config/config.ts';
import { readConfigText } from '../config/load.ts';
import { ConfigReload } from '../config/reload/config-reload.ts';
import type { NextConfig } from '../config/reload/config-reload.ts';
import type { ConfigState } from '../config/reload/config-state.ts';
import type { ConfigDiff } from '../config/reload/diff-config.ts';
import { FileWatch } from '../config/reload/file-watch.ts';
import { sideFilesOf } from '../config/reload/side-files.ts';
import { untrusted } from '../config/reload/untrusted.ts';
import { isTrustedText, TRUSTED_FILE } from '../config/file/trust.ts';
import type { LazySandbox } from '../exposure/code/lazy-sandbox.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Caller } from '../model/caller.ts';
import type { ErrorCode } from '../model/errors.ts';
import type { AuditTrail } from '../observe/audit/audit-trail.ts';
import type { Logger } from '../observe/log.ts';
import type { Guard } from '../policy/call.ts';
import type { Results } from '../results/results.ts';
import type { StorePlace } from '../storage/store-place.ts';
import type { AppOptions } from './app-options.ts';
import { loadGuards } from './load-guards.ts';
import { revisionOf, validated } from './load-snapshot.ts';
import { auditSettings } from './open-audit.ts';
import type { Front } from './open-front.ts';
import type { Telemetry } from './open-telemetry.ts';
import type { GatewaySignIns } from './signing-in/gateway-sign-ins.ts';

/** Everything of a running gateway that follows the configuration. */
export interface ReloadedParts {
  readonly use: (snapshot: ConfigSnapshot) => void;
  readonly place: StorePlace;
  readonly gateway: Gateway;
  readonly guards: readonly Guard[];
  readonly front: Front;
  readonly audit: AuditTrail;
  readonly telemetry: Telemetry;
  readonly openTelemetry: (snapshot: ConfigSnapshot) => Promise<Telemetry>;
  readonly useTelemetry: (telemetry: Telemetry) => void;
  readonly results: Results;
  readonly sandbox: LazySandbox;
  readonly signIns: GatewaySignIns;
  /** For the next start, and for those who look for a gateway. */
  readonly remember: (snapshot: ConfigSnapshot, text: string) => Promise<void>;
  /** What the file says with what was changed elsewhere; the file alone where nothing is. */
  readonly shared: { text(): Promise<string> } | undefined;
  readonly log: Logger;
}

/** Settings that are followed while the gateway runs; every other one is named as needing a restart. */
const FOLLOWED: ReadonlySet<string> = new Set<keyof GatewayConfig>([
  ...(['upstreams', 'unusedTags'] as const),
  ...(['names', 'expose', 'http', 'search', 'results', 'callerLimits', 'redact'] as const),
  ...(['argumentRules', 'guards', 'profiles', 'policy', 'auth', 'audit', 'telemetry', 'metrics'] as const),
  ...(['code', 'startup', 'maxCallMs', 'shutdownMs', 'idleExitMs', 'log', 'management', 'readOnly'] as const),
]);

const FILE: Caller = { id: 'file', via: 'cli', profile: 'default' };

/** Follows the configuration file for as long as the gateway runs. */
export class Reloading implements AsyncDisposable {
  readonly #options: AppOptions;
  readonly #parts: ReloadedParts;
  readonly #first: ConfigSnapshot;
  readonly #reload: ConfigReload;
  readonly #watch: FileWatch;
  #guards: readonly Guard[];
  #telemetry: Telemetry;
  #edition = 0;

  constructor(options: AppOptions, first: ConfigSnapshot, parts: ReloadedParts) {
    const { file, trustedIn } = options;
    this.#options = options;
    this.#parts = parts;
    this.#first = first;
    this.#guards = parts.guards;
    this.#telemetry = parts.telemetry;
    this.#reload = new ConfigReload({
      first,
      home: options.home,
      read: () => parts.shared?.text() ?? readConfigText(file),
      revisionOf: (text) => revisionOf(options, text),
      validate: (text) => validated(options, text),
      checkTrust:
        trustedIn === undefined
          ? undefined
          : async (text) => {
              // A person trusts a file, and who may change servers is asked when they do.
              const own = parts.shared === undefined ? text : await readConfigText(file);
              if (!(await isTrustedText(file, own, trustedIn))) throw untrusted(file);
            },
      apply: (next) => this.#apply(next),
      onState: (state) => {
        if (state.problem !== undefined) this.#record(state.problem.code);
        parts.gateway.events.emit('config', state);
      },
      log: parts.log,
      now: Date.now,
    });
    const trusted = trustedIn === undefined ? [] : [join(trustedIn, TRUSTED_FILE)];
    this.#watch = new FileWatch({
      files: () => [file, ...trusted, ...sideFilesOf(this.#reload.snapshot, options.home)],
      onChange: () => void this.#reload.look(),
    });
    // It may have changed since it was read for the start.
    void this.#reload.look();
  }

  get state(): ConfigState {
    return this.#reload.state;
  }

  /** Resolves when what the file says now is in use, or the state says why it is not. */
  look(): Promise<void> {
    return this.#reload.look();
  }

  /** What is being taken into use is so before anything that it touches is closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch[Symbol.dispose]();
    await this.#reload.close();
  }

  /** What can fail comes first, so that a change is taken into use whole or not at all. */
  async #apply(next: NextConfig): Promise<readonly string[]> {
    const { snapshot, text, diff } = next;
    const { front, gateway, signIns, log } = this.#parts;
    const isChanged = (...keys: (typeof diff.settings)[number][]): boolean =>
      keys.some((key) => diff.settings.includes(key));
    const takeFront = await front.prepare?.(snapshot, diff);
    const guards = isChanged('guards')
      ? await loadGuards(snapshot.value.guards, {
          configFile: snapshot.file,
          importModule: this.#options.importModule,
          edition: ++this.#edition,
        })
      : this.#guards;
    const telemetry = isChanged('audit', 'telemetry', 'metrics')
      ? await this.#parts.openTelemetry(snapshot)
      : this.#telemetry;
    this.#parts.use(snapshot);
    takeFront?.();
    this.#adjust(snapshot, isChanged);
    this.#guards = guards;
    const before = this.#telemetry;
    this.#telemetry = telemetry;
    this.#parts.useTelemetry(telemetry);
    const { watch, isTracing } = telemetry;
    const later = (what: string) => (error: unknown) =>
      log.warn('A changed configuration is in use, but something was left undone.', {
        what,
        reason: String(error),
      });
    await gateway.apply({ snapshot, diff, own: guards, watch, isTracing }).catch(later('approvals'));
    await signIns.forget(diff.gone).catch(later('tokens'));
    await this.#parts.remember(snapshot, text).catch(later('run/gateway.json'));
    if (before !== telemetry) void before.close().catch(later('telemetry'));
    this.#record(undefined, diff);
    return this.#needsRestart(snapshot.value);
  }

  /** Who wrote a file nobody can say; whatever changed it by program is on record by itself. */
  #record(code: ErrorCode | undefined, diff?: ConfigDiff): void {
    this.#parts.audit.record({
      ...{ kind: 'config', action: 'reload', caller: FILE },
      ...(code === undefined ? { outcome: 'ok' } : { outcome: 'refused', code }),
      details: { file: this.#options.file, ...diff },
    });
  }

  #adjust(
    { value }: ConfigSnapshot,
    isChanged: (...keys: Exclude<keyof GatewayConfig, 'upstreams'>[]) => boolean,
  ): void {
    const { place, audit, results, sandbox, log } = this.#parts;
    if (isChanged('audit')) audit.adjust(auditSettings({ ...this.#options, place }, value, log));
    if (isChanged('results')) results.adjust(value.results);
    if (isChanged('code')) sandbox.adjust(value.code);
  }

  /** Compared with what the gateway was started with: a setting that was put back needs nothing. */
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
