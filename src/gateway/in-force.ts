import type { GatewayConfig, UpstreamConfig } from '../config/config.ts';
import type { Deadlines } from '../lib/deadlines.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { CallWatch } from '../observe/audit/audit-trail.ts';
import type { WaitingCalls } from '../policy/ask/waiting-calls.ts';
import type { Next } from '../policy/call.ts';
import { chain } from '../policy/chain.ts';
import { defaultChain } from '../policy/default-chain.ts';
import { guardMemory } from '../policy/guard-memory.ts';
import { tiers } from '../policy/tiers.ts';
import type { ConfigChange } from './operating/config-change.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { permission } from './calls/permission.ts';
import { callFacts } from './calls/refusals.ts';
import type { Sight } from './sight.ts';

interface InForceParts {
  readonly sight: Sight;
  readonly waiting: WaitingCalls;
  readonly deadlines: Deadlines;
  /** What comes after the last guard. */
  readonly send: Next;
}

/** What follows from the configuration alone: settings of servers, and the guards around every call. Replaced whole. */
export class InForce {
  readonly facts: ReturnType<typeof callFacts>;
  readonly #deps: GatewayDeps;
  readonly #parts: InForceParts;
  readonly #configs = new Map<UpstreamName, UpstreamConfig>();
  readonly #memory = guardMemory();
  #config: GatewayConfig;
  #tierOf: ReturnType<typeof tiers>;
  #watch: CallWatch | undefined;
  #run: Next;

  constructor(deps: GatewayDeps, parts: InForceParts) {
    this.#deps = deps;
    this.#parts = parts;
    this.facts = callFacts(parts.sight, (entry) => this.#tierOf(entry));
    this.#config = deps.config;
    this.#tierOf = tiers([]);
    this.#run = parts.send;
    this.take(deps.config, deps);
  }

  get config(): GatewayConfig {
    return this.#config;
  }

  /** Of the servers in use; always the same map. */
  get configs(): ReadonlyMap<UpstreamName, UpstreamConfig> {
    return this.#configs;
  }

  get watch(): CallWatch | undefined {
    return this.#watch;
  }

  get run(): Next {
    return this.#run;
  }

  take(config: GatewayConfig, { own, watch, isTracing = false }: Partial<ConfigChange>): void {
    this.#config = config;
    this.#configs.clear();
    for (const upstream of config.upstreams) this.#configs.set(upstream.name, upstream);
    this.#memory.keep(this.#configs);
    this.#watch = watch;
    this.#tierOf = tiers(config.upstreams);
    const { send, deadlines } = this.#parts;
    const guards = defaultChain({
      ...{ ...config, ...this.#deps, watch, isTracing, deadlines, facts: this.facts, memory: this.#memory },
      ...(own !== undefined && { own }),
      upstream: (name) => this.#configs.get(name),
      permission: permission({ ...this.#deps, config }, this.#parts),
    });
    this.#run = chain(guards, send);
  }
}
