import { Catalog } from '../../src/catalog/catalog.ts';
import type { ConfigSnapshot, GatewayConfig, UpstreamConfig } from '../../src/config/config.ts';
import { diffConfig } from '../../src/config/reload/diff-config.ts';
import type { ConfigDiff } from '../../src/config/reload/diff-config.ts';
import { Gateway } from '../../src/gateway/gateway.ts';
import { createListingSource } from '../../src/gateway/listing/listing-source.ts';
import { Emitter } from '../../src/core/lib/emitter.ts';
import type { Fingerprint, UpstreamName } from '../../src/core/ids.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { Era } from '../../src/core/server-facts.ts';
import type { CallObserver } from '../../src/observability/audit/audit-trail.ts';
import { silentLogger } from '../../src/observability/log.ts';
import { UpstreamPool } from '../../src/upstream/upstream-pool.ts';
import { RpcClient } from '../../src/protocol/rpc-client.ts';
import { MemoryServer } from './memory-server.ts';
import type { MemoryServerScript } from './memory-server.ts';
import { upstreamConfig } from './upstream-config.ts';

/** What a server of a test offers, and how it answers requests other than lists. */
export interface Offer {
  era?: Era;
  tools?: readonly JsonObject[];
  prompts?: readonly JsonObject[];
  resources?: readonly JsonObject[];
  resourceTemplates?: readonly JsonObject[];
  script?: MemoryServerScript;
  config?: Partial<UpstreamConfig>;
}

/** A real gateway with in-memory servers and without stored listings. */
export class MemoryGateway implements AsyncDisposable {
  readonly gateway: Gateway;
  /** The latest connection of each server. */
  readonly servers = new Map<string, MemoryServer>();
  readonly #pool: UpstreamPool;
  readonly #catalog: Catalog;
  readonly #callObserver: CallObserver | undefined;
  #offers: Readonly<Record<string, Offer>>;
  #snapshot: ConfigSnapshot;

  private constructor(
    offers: Readonly<Record<string, Offer>>,
    settings: Partial<GatewayConfig>,
    callObserver: CallObserver | undefined,
  ) {
    this.#offers = offers;
    this.#callObserver = callObserver;
    this.#snapshot = snapshotOf(offers, settings);
    const { upstreams } = this.#snapshot.value;
    const deps = { log: silentLogger, now: Date.now };
    this.#pool = new UpstreamPool({
      ...deps,
      open: async ({ name }, { handlers }) => {
        const offer = this.#offers[name] ?? {};
        const server = new MemoryServer(
          (heard, self) => listAnswer(offer, heard.method) ?? offer.script?.(heard, self),
        );
        this.servers.set(name, server);
        const facts = {
          era: offer.era ?? 'legacy',
          protocol: 'x',
          info: { title: `Title of ${name}` },
          capabilities,
        };
        return {
          client: await RpcClient.open(server.open, handlers),
          facts,
          processHints: () => Promise.resolve({ stderr: [] }),
        };
      },
      identity: { info: { name: 'us' }, capabilities: {} },
      eras: { recall: () => undefined, remember: () => {} },
    });
    for (const upstream of upstreams) this.#pool.add(upstream);
    this.#catalog = new Catalog({
      source: createListingSource(this.#pool, deps),
      cache: {
        events: new Emitter(),
        restore: () => Promise.resolve([]),
        retain: () => {},
        save: () => {},
      },
      separator: '__',
      allows: () => true,
      now: Date.now,
    });
    this.#catalog.apply(upstreams);
    this.gateway = new Gateway({
      ...deps,
      config: this.#snapshot.value,
      pool: this.#pool,
      catalog: this.#catalog,
      ...(callObserver && { callObserver }),
    });
  }

  static async start(
    offers: Readonly<Record<string, Offer>>,
    settings: Partial<GatewayConfig> = {},
    callObserver?: CallObserver,
  ): Promise<MemoryGateway> {
    const memory = new MemoryGateway(offers, settings, callObserver);
    memory.gateway.start();
    await memory.gateway.firstListing;
    return memory;
  }

  /** Changes the configuration, as if its file had been edited. */
  async change(
    offers: Readonly<Record<string, Offer>>,
    settings: Partial<GatewayConfig> = {},
  ): Promise<ConfigDiff> {
    const snapshot = snapshotOf(offers, settings);
    const diff = diffConfig(this.#snapshot, snapshot);
    this.#offers = offers;
    this.#snapshot = snapshot;
    await this.gateway.apply({ snapshot, diff, callObserver: this.#callObserver });
    return diff;
  }

  server(name: string): MemoryServer {
    const server = this.servers.get(name);
    if (server === undefined) throw new Error(`The server ${name} was never connected.`);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway[Symbol.asyncDispose]();
    await this.#catalog[Symbol.asyncDispose]();
    await this.#pool[Symbol.asyncDispose]();
  }
}

function snapshotOf(
  offers: Readonly<Record<string, Offer>>,
  settings: Partial<GatewayConfig>,
): ConfigSnapshot {
  const upstreams = Object.entries(offers).map(([name, { config: own }]) =>
    upstreamConfig({
      name: name as UpstreamName,
      fingerprint: `config of ${name}` as Fingerprint,
      tools: { allow: ['*'], deny: [], tiers: {} },
      ...own,
    }),
  );
  const value = { ...config, ...settings, upstreams };
  return {
    file: '/config.jsonc',
    revision: '' as Fingerprint,
    value,
    disabled: [],
    unusable: [],
    warnings: [],
  };
}

const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {} };

const config: Omit<GatewayConfig, 'upstreams'> = {
  names: { separator: '__' },
  expose: { kind: 'direct', directBudget: 4000, shape: true, pin: [], callTools: 'tiers', reveal: false },
  http: {
    address: '127.0.0.1:0',
    allowedHosts: [],
    allowedOrigins: [],
    maxSessions: 10,
    sessionIdleMs: 1000,
    drainMs: 0,
    maxBodyBytes: 1000,
  },
  results: { compact: false, learnShapes: true, maxTokens: 0, keepMs: 60_000, maxBytes: 1_000_000 },
  code: { timeoutMs: 5000, cpuMs: 1000, memoryMb: 16, maxCalls: 10, maxOutput: 10_000, maxScripts: 1 },
  storage: { poolSize: 1, connectTimeoutMs: 1, statementTimeoutMs: 1 },
  fleet: {},
  audit: { enabled: false, keepMs: 1e9, maxBytes: 1e9, arguments: false, results: false, chain: false },
  telemetry: { headers: {}, intervalMs: 1000 },
  metrics: false,
  management: false,
  readOnly: false,
  callerLimits: { isFleetWide: false, rate: 0, concurrency: 0, waiting: 0 },
  redact: { arguments: 'off', results: 'off', entropy: false, patterns: {} },
  guards: [],
  profiles: {},
  policy: { default: 'allow', rules: [] },
  search: { usage: true },
  startup: { listWaitMs: 1000, refreshMs: 5000 },
  maxCallMs: 60_000,
  shutdownMs: 1000,
  idleExitMs: 1000,
  log: { level: 'info' },
};

const LISTS = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
} as const;

function listAnswer(offer: Offer, method: string | undefined): JsonObject | undefined {
  const member = Object.entries(LISTS).find(([list]) => list === method)?.[1];
  return member === undefined ? undefined : { [member]: offer[member] ?? [] };
}
