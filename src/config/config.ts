import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import type { Tier } from '../model/tier.ts';

/** How to reach an upstream. Values may hold references such as `${env:NAME}`, revealed at the moment of use. */
export type TransportConfig =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** Absolute like `cwd`, unless it holds a reference or begins with `~`: then it is made so when revealed. */
      readonly envFile?: string;
      /** Relative ones in the file are relative to the file. */
      readonly cwd?: string;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** `auto` tries Streamable HTTP first and legacy HTTP+SSE second. */
      readonly flavour: 'auto' | 'streamable' | 'sse';
    };

export interface UpstreamConfig {
  readonly name: UpstreamName;
  /** Of everything that decides what the upstream is and offers: transport and era, with references unrevealed. */
  readonly fingerprint: Fingerprint;
  readonly enabled: boolean;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly share: 'all' | 'session';
  readonly era: 'auto' | 'legacy' | 'modern';
  readonly transport: TransportConfig;
  readonly idle: 'adaptive' | 'never' | number;
  readonly timeouts: { readonly connectMs: number; readonly callMs: number };
  readonly limits: { readonly concurrency: number; readonly waiting: number };
  /** Globs over the upstream's own tool names. */
  readonly tools: {
    readonly allow: readonly string[];
    readonly deny: readonly string[];
    readonly tiers: Readonly<Record<string, Tier>>;
  };
}

export interface GatewayConfig {
  /** Enabled and valid entries only; the others are in `ConfigSnapshot.warnings` or disabled. */
  readonly upstreams: readonly UpstreamConfig[];
  readonly names: { readonly separator: string };
  readonly expose: {
    readonly kind: 'auto' | 'direct' | 'search';
    readonly directBudget: number;
    /** Globs over exposed names. */
    readonly pin: readonly string[];
    readonly callTools: 'tiers' | 'single';
    readonly reveal: boolean;
  };
  readonly http: {
    readonly address: string;
    readonly allowedHosts: readonly string[];
    readonly allowedOrigins: readonly string[];
    readonly maxSessions: number;
    readonly sessionIdleMs: number;
    readonly maxBodyBytes: number;
  };
  readonly startup: { readonly listWaitMs: number; readonly refreshMs: number };
  /** Hard bound on any one request, however much progress it makes. */
  readonly maxCallMs: number;
  readonly shutdownMs: number;
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' };
}

export interface ConfigWarning {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Where in the document, as `mcpServers.github.args[1]`. */
  readonly path: string;
  readonly message: string;
}

export interface ConfigSnapshot {
  readonly file: string;
  /** Hash of the text and of the program's version; equal text means equal value. */
  readonly revision: Fingerprint;
  readonly value: GatewayConfig;
  /** Names of entries that are there but `enabled: false`. */
  readonly disabled: readonly UpstreamName[];
  readonly warnings: readonly ConfigWarning[];
}
