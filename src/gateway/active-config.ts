import type { GatewayConfig, UpstreamConfig } from '../config/config.ts';
import type { ToolEntry } from '../core/entry.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { Tier } from '../core/tier.ts';
import { createTierLookup } from '../policy/tool-tiers.ts';

/** Timeout in milliseconds for a call to an upstream that has just been removed from the configuration. */
const DEFAULT_CALL_MS = 120_000;

/** The configuration that new calls use. A configuration change replaces it as a whole. */
export class ActiveConfig {
  readonly #upstreams = new Map<UpstreamName, UpstreamConfig>();
  #config: GatewayConfig;
  #tierOf: (entry: ToolEntry) => Tier;

  constructor(config: GatewayConfig) {
    this.#config = config;
    this.#tierOf = this.#index(config);
  }

  replace(config: GatewayConfig): void {
    this.#config = config;
    this.#tierOf = this.#index(config);
  }

  get config(): GatewayConfig {
    return this.#config;
  }

  /** The upstreams in use, by name. A configuration change updates this map in place, so other objects may keep a reference to it. */
  get upstreams(): ReadonlyMap<UpstreamName, UpstreamConfig> {
    return this.#upstreams;
  }

  callTimeoutMs(upstream: UpstreamName): number {
    return this.#upstreams.get(upstream)?.timeouts.callMs ?? DEFAULT_CALL_MS;
  }

  tierOf(entry: ToolEntry): Tier {
    return this.#tierOf(entry);
  }

  #index({ upstreams }: GatewayConfig): (entry: ToolEntry) => Tier {
    this.#upstreams.clear();
    for (const upstream of upstreams) this.#upstreams.set(upstream.name, upstream);
    return createTierLookup(upstreams);
  }
}
