import type { ConfigSnapshot, GatewayConfig } from '../config/config.ts';
import { chooseExposure } from '../exposure/choose-exposure.ts';
import { createCodeExposure } from '../exposure/code/code-exposure.ts';
import type { LazySandbox } from '../exposure/code/lazy-sandbox.ts';
import type { ExposureChoice } from '../exposure/exposure.ts';
import type { ToolSearch } from '../gateway/tool-search.ts';
import { canonicalJson } from '../core/lib/canonical-json.ts';
import type { Logger } from '../observability/log.ts';
import type { LearnedShapes } from '../exposure/results/learned-shapes.ts';
import type { OversizedResults } from '../exposure/results/oversized-results.ts';

type Kind = GatewayConfig['expose']['kind'];

interface ExposuresDeps {
  readonly config: () => ConfigSnapshot;
  readonly search: ToolSearch;
  readonly results: OversizedResults;
  readonly sandbox: LazySandbox;
  readonly shapes: LearnedShapes;
  readonly log: Logger;
}

/** Creates and caches the exposures of the current configuration. */
export class Exposures {
  readonly #deps: ExposuresDeps;
  #known = new Map<Kind, ExposureChoice>();
  /** The snapshot for which `#settings` was computed. */
  #settingsSource: ConfigSnapshot | undefined;
  /** The settings that affect exposures, as canonical JSON. */
  #settings = '';

  constructor(deps: ExposuresDeps) {
    this.#deps = deps;
  }

  /** An object that is replaced whenever the settings of exposures change. */
  get version(): object {
    return this.#current();
  }

  /** Returns the exposure of a client: its own choice (`requested`), else that of its profile, else `fallback`, else the configured default. */
  of(profile: string, requested: Kind | undefined, fallback: Kind | undefined): ExposureChoice {
    return (view, client) => {
      const { expose, profiles } = this.#deps.config().value;
      const ofProfile = Object.hasOwn(profiles, profile) ? profiles[profile]?.expose : undefined;
      return this.#chosen(requested ?? ofProfile ?? fallback ?? expose.kind)(view, client);
    };
  }

  #current(): Map<Kind, ExposureChoice> {
    const snapshot = this.#deps.config();
    if (snapshot === this.#settingsSource) return this.#known;
    this.#settingsSource = snapshot;
    const { expose, code: limits, names, profiles, results, management, readOnly } = snapshot.value;
    const settings = canonicalJson({ expose, limits, names, profiles, results, management, readOnly });
    if (settings !== this.#settings) this.#known = new Map();
    this.#settings = settings;
    return this.#known;
  }

  #chosen(kind: Kind): ExposureChoice {
    const known = this.#current();
    let choice = known.get(kind);
    if (choice === undefined) known.set(kind, (choice = this.#choice(kind)));
    return choice;
  }

  #choice(kind: Kind): ExposureChoice {
    const { config, search, results, sandbox, shapes, log } = this.#deps;
    const { expose, code: limits, names } = config().value;
    const choose = chooseExposure({
      ...expose,
      kind,
      results,
      shapes,
      select: { sandbox: () => sandbox.get(), limits },
      code: createCodeExposure({
        sandbox: () => sandbox.get(),
        limits,
        results,
        shapes,
        separator: names.separator,
      }),
      onExcess: (excess) =>
        log.warn(
          'A client accepts fewer tools than the gateway offers. Set expose.kind to "search" to make all tools available.',
          excess,
        ),
    });
    return (view, client) => {
      const exposure = choose(view, client);
      if (exposure.kind !== 'direct') search.prepareIndex();
      return exposure;
    };
  }
}
