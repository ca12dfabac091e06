import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tier } from '../model/tier.ts';
import type { CallersConfig } from './callers-config.ts';
import type { ArgumentRule, Description, RedactConfig } from './guards-config.ts';
import type { PolicyConfig, ProfileConfig } from './policy-config.ts';

/** One value of a preset tool on its way to the command line. */
interface CliParameter {
  readonly type: 'string' | 'integer' | 'number' | 'boolean';
  /** With `=` at its end, values are written behind that. */
  readonly flag?: string | undefined;
  readonly description?: string | undefined;
  readonly choices?: readonly string[] | undefined;
  readonly required: boolean;
  readonly repeat: boolean;
}

export interface CliPreset {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly args: readonly string[];
  readonly parameters: Readonly<Record<string, CliParameter>>;
}

/** How a program that does not speak MCP becomes tools. */
export interface CliConfig {
  readonly depth: number;
  /** Subcommands, as lines of words. */
  readonly only: readonly string[];
  readonly help?: string | undefined;
  readonly maxOutput: number;
  /** Instead of reading the help. */
  readonly tools: readonly CliPreset[];
}

interface ProgramTransport {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute like `cwd`, unless it holds a reference or begins with `~`: then it is made so when revealed. */
  readonly envFile?: string;
  /** Relative ones in the file are relative to the file. */
  readonly cwd?: string;
}

/** How to reach an upstream. Values may hold references such as `${env:NAME}`, revealed at the moment of use. */
export type TransportConfig =
  | (ProgramTransport & { readonly kind: 'stdio' })
  | (ProgramTransport & { readonly kind: 'cli'; readonly cli: CliConfig })
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** `auto` tries Streamable HTTP first and legacy HTTP+SSE second. */
      readonly flavour: 'auto' | 'streamable' | 'sse';
    };

/** How tokens for an upstream over HTTP are had. Texts may hold references. */
export interface UpstreamAuth {
  readonly flow: 'browser' | 'device' | 'client-credentials';
  readonly per: 'server' | 'caller';
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** PEM or JWK. */
  readonly privateKey?: string;
  readonly keyId?: string;
  readonly clientMetadataUrl?: string;
  readonly issuer?: string;
  readonly scopes: readonly string[];
  /** Both 0 for any port. */
  readonly callbackPort: { readonly first: number; readonly last: number };
  readonly allowPrivate: boolean;
}

export interface UpstreamConfig {
  readonly name: UpstreamName;
  /** Of everything that decides what the upstream is and offers: transport and era, with references unrevealed. */
  readonly fingerprint: Fingerprint;
  readonly enabled: boolean;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly share: 'all' | 'session' | 'fleet';
  /** Who approves what it offers. */
  readonly trust: 'first-sight' | 'manual' | 'scan';
  readonly era: 'auto' | 'legacy' | 'modern';
  readonly transport: TransportConfig;
  /** Of upstreams over HTTP. */
  readonly auth?: UpstreamAuth;
  readonly idle: 'adaptive' | 'never' | number;
  readonly timeouts: { readonly connectMs: number; readonly callMs: number };
  readonly limits: {
    readonly concurrency: number;
    readonly waiting: number;
    /** Processes that sessions may have of it at the same time, where each has its own. */
    readonly sessions: number;
    /** Calls per minute; 0 is no bound. */
    readonly rate: number;
    /** Bytes; 0 is no bound. */
    readonly argumentBytes: number;
    readonly resultBytes: number;
    /** Whether all gateways on one database count together. */
    readonly isOfFleet: boolean;
  };
  /** What becomes of secrets in its calls. */
  readonly redact: Pick<RedactConfig, 'arguments' | 'results'>;
  /** Whether rules about arguments hold for it. */
  readonly hasArgumentRules: boolean;
  /** Globs over the upstream's own tool names. */
  readonly tools: {
    readonly allow: readonly string[];
    readonly deny: readonly string[];
    readonly tiers: Readonly<Record<string, Tier>>;
    /** Own words about tools, by the same globs. */
    readonly describe?: Readonly<Record<string, Description>>;
  };
}

export interface SearchConfig {
  /** Whether what a caller used lately counts. */
  readonly usage: boolean;
  readonly rerank?: {
    readonly kind: 'openai' | 'gemini' | 'rerank';
    readonly url: string;
    readonly model: string;
    /** May hold references. */
    readonly apiKey?: string;
    readonly timeoutMs: number;
    readonly top: number;
    readonly body: JsonObject;
  };
}

export interface GatewayConfig {
  /** Enabled and valid entries only; the others are in `ConfigSnapshot.warnings` or disabled. */
  readonly upstreams: readonly UpstreamConfig[];
  /** Tags of the other entries, so that rules know those too; absent when none has any. */
  readonly unusedTags?: Readonly<Record<string, readonly string[]>>;
  readonly names: { readonly separator: string };
  readonly expose: {
    readonly kind: 'auto' | 'direct' | 'search' | 'code';
    readonly directBudget: number;
    /** Whether names, schemas and numbers of tools keep to the limits of known clients. */
    readonly shape: boolean;
    /** Globs over exposed names. */
    readonly pin: readonly string[];
    readonly callTools: 'tiers' | 'single';
    readonly reveal: boolean;
  };
  readonly http: {
    readonly address: string;
    /** An origin. */
    readonly publicUrl?: string;
    readonly allowedHosts: readonly string[];
    readonly allowedOrigins: readonly string[];
    readonly maxSessions: number;
    readonly sessionIdleMs: number;
    readonly maxBodyBytes: number;
    /** How long we serve on after a stop, while we are not ready any more. */
    readonly drainMs: number;
  };
  readonly search: SearchConfig;
  readonly results: {
    /** 0 keeps nothing and passes everything. */
    readonly maxTokens: number;
    readonly keepMs: number;
    readonly maxBytes: number;
  };
  /** Of one caller, over all servers; 0 is no bound. */
  readonly callerLimits: {
    readonly rate: number;
    readonly concurrency: number;
    readonly waiting: number;
    readonly isOfFleet: boolean;
  };
  readonly redact: RedactConfig;
  /** Empty means the built-in ones; absent means none. */
  readonly argumentRules?: readonly ArgumentRule[];
  /** Modules of own guards, as the file has them. */
  readonly guards: readonly string[];
  readonly profiles: Readonly<Record<string, ProfileConfig>>;
  readonly policy: PolicyConfig;
  /** Absent: whoever is on this machine is served. */
  readonly auth?: CallersConfig;
  readonly storage: {
    /** Of PostgreSQL; may hold references. Absent: the embedded database. */
    readonly url?: string;
    /** A reference to the secret that gateways on one database share. Absent: that of the state folder. */
    readonly key?: string;
    readonly poolSize: number;
    readonly connectTimeoutMs: number;
    readonly statementTimeoutMs: number;
  };
  /** Host and port of the line between gateways: where we listen, and as others reach it. */
  readonly fleet: { readonly listen?: string; readonly address?: string };
  readonly audit: {
    readonly enabled: boolean;
    readonly keepMs: number;
    readonly maxBytes: number;
    readonly arguments: boolean;
    readonly results: boolean;
    readonly chain: boolean;
  };
  readonly telemetry: {
    /** Base address of an OTLP/HTTP collector; may hold references, like the headers. */
    readonly endpoint?: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly intervalMs: number;
  };
  /** Whether `/metrics` is served. */
  readonly metrics: boolean;
  /** Whether models get tools that change servers. */
  readonly management: boolean;
  /** Whether nothing is changed by program. */
  readonly readOnly: boolean;
  /** Limits of scripts. */
  readonly code: {
    readonly timeoutMs: number;
    readonly cpuMs: number;
    readonly memoryMb: number;
    readonly maxCalls: number;
    readonly maxOutput: number;
    readonly maxScripts: number;
  };
  readonly startup: { readonly listWaitMs: number; readonly refreshMs: number };
  /** Hard bound on any one request, however much progress it makes. */
  readonly maxCallMs: number;
  readonly shutdownMs: number;
  /** How long a gateway in the background stays without a client. */
  readonly idleExitMs: number;
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
  /** Names of entries that are there and have a mistake in them; `warnings` say which. */
  readonly unusable: readonly UpstreamName[];
  readonly warnings: readonly ConfigWarning[];
}
