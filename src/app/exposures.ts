import type { ConfigSnapshot, GatewayConfig } from '../config/config.ts';
import { chooseExposure } from '../exposure/choose-exposure.ts';
import { code } from '../exposure/code/code.ts';
import type { LazySandbox } from '../exposure/code/lazy-sandbox.ts';
import type { ExposureChoice } from '../exposure/exposure.ts';
import type { ToolSearch } from '../gateway/tool-search.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Logger } from '../observe/log.ts';
import type { Results } from '../results/results.ts';

type Kind = GatewayConfig['expose']['kind'];

interface ExposuresDeps {
  readonly config: () => ConfigSnapshot;
  readonly search: ToolSearch;
  readonly results: Results;
  readonly sandbox: LazySandbox;
  readonly log: Logger;
}

/** The ways in which clients are shown tools, as the configuration has them now. */
export class Exposures {
  readonly #deps: ExposuresDeps;
  #known = new Map<Kind, ExposureChoice>();
  #of: ConfigSnapshot | undefined;
  #settings = '';

  constructor(deps: ExposuresDeps) {
    this.#deps = deps;
  }

  /** Another object when clients are shown tools in another way than before. */
  get edition(): object {
    return this.#current();
  }

  /** What a client asked for itself, else its profile, else what holds for all. */
  of(profile: string, wanted: Kind | undefined, usual: Kind | undefined): ExposureChoice {
    return (view, client) => {
      const { expose, profiles } = this.#deps.config().value;
      const ofProfile = Object.hasOwn(profiles, profile) ? profiles[profile]?.expose : undefined;
      return this.#chosen(wanted ?? ofProfile ?? usual ?? expose.kind)(view, client);
    };
  }

  #current(): Map<Kind, ExposureChoice> {
    const snapshot = this.#deps.config();
    if (snapshot === this.#of) return this.#known;
    this.#of = snapshot;
    const { expose, code: limits, names, profiles, results, management, readOnly } = snapshot.value;
    const settings = canonicalJson({ expose, limits, names, profiles, results, management, readOnly });
    if (settings !== this.#settings) this.#known = new Map();
    this.#settings = settings;
    return this.#known;
  }

  #chosen(kind: Kind): ExposureChoice {
    const known = this.#current();
    let same = known.get(kind);
    if (same === undefined) known.set(kind, (same = this.#choice(kind)));
    return same;
  }

  #choice(kind: Kind): ExposureChoice {
    const { config, search, results, sandbox, log } = this.#deps;
    const { expose, code: limits, names } = config().value;
    const choose = chooseExposure({
      ...expose,
      kind,
      results,
      code: code({ sandbox: () => sandbox.get(), limits, results, separator: names.separator }),
      onExcess: (excess) =>
        log.warn('A client takes fewer tools than are listed; expose.kind "search" shows it all.', excess),
    });
    return (view, client) => {
      const exposure = choose(view, client);
      if (exposure.kind !== 'direct') search.prepare();
      return exposure;
    };
  }
}
