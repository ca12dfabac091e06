import type { UpstreamConfig } from '../config/config.ts';
import type { UpstreamName } from '../model/ids.ts';
import { ServerAlone } from './server-alone.ts';
import type { AloneDeps } from './server-alone.ts';
import type { CallRequest } from './calls/call-request.ts';

interface ServersAloneDeps extends Omit<AloneDeps, 'config' | 'discover'> {
  readonly configs: ReadonlyMap<UpstreamName, UpstreamConfig>;
  readonly discover: (name: UpstreamName, request: CallRequest) => Promise<void>;
}

/** Every server by itself, made when somebody asks for it. */
export class ServersAlone {
  readonly #deps: ServersAloneDeps;
  readonly #made = new Map<UpstreamName, ServerAlone>();

  constructor(deps: ServersAloneDeps) {
    this.#deps = deps;
  }

  get(name: string): ServerAlone | undefined {
    const config = this.#deps.configs.get(name as UpstreamName); // The cast only asks the map.
    if (config === undefined) return undefined;
    let alone = this.#made.get(config.name);
    if (alone !== undefined) return alone;
    const { configs, discover, ...deps } = this.#deps;
    alone = new ServerAlone({
      ...deps,
      // Whoever is connected to a server that has left the configuration is told so by what becomes of its calls.
      get config() {
        return configs.get(config.name) ?? config;
      },
      discover: (request) => discover(config.name, request),
    });
    this.#made.set(config.name, alone);
    return alone;
  }
}
