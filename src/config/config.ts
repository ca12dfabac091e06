import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { Tier } from '../core/tier.ts';
import type { CallersConfig } from './callers-config.ts';
import type { ArgumentRule, ToolDescriptionOverride, RedactConfig } from './guards-config.ts';
import type { PolicyConfig, ProfileConfig } from './policy-config.ts';

/** A validated configuration. It is deeply frozen. */
export interface ConfigSnapshot {
  readonly file: string;
  /** Hash of the text and the program's version; equal revisions mean equal values. */
  readonly revision: Fingerprint;
  readonly value: GatewayConfig;
  /** Names of the entries with `enabled: false`. */
  readonly disabled: readonly UpstreamName[];
  /** Names of the entries that cannot be used because of an error; `warnings` contains the errors. */
  readonly unusable: readonly UpstreamName[];
  readonly warnings: readonly ConfigWarning[];
}

export interface ConfigWarning {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Path in the document, such as `mcpServers.github.args[1]`. */
  readonly path: string;
  readonly message: string;
}

export interface GatewayConfig {
  /** Enabled and valid entries only; the others are listed in `ConfigSnapshot.disabled` and `.unusable`. */
  readonly upstreams: readonly UpstreamConfig[];
  /** Tags of disabled and unusable entries by name, so that rules still apply to them; absent if there are none. */
  readonly unusedTags?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly names: { readonly separator: string };
  readonly expose: {
    readonly kind: 'auto' | 'direct' | 'search' | 'code';
    readonly directBudget: number;
    /** Whether tool names, schemas and counts are adapted to the limits of known clients. */
    readonly shape: boolean;
    /** Globs over exposed names. */
    readonly pin: readonly string[];
    readonly callTools: 'tiers' | 'single';
    readonly reveal: boolean;
  };
  readonly http: {
    readonly address: string;
    /** The origin at which clients reach the gateway, such as `https://mcp.example.com`. */
    readonly publicUrl?: string | undefined;
    readonly allowedHosts: readonly string[];
    readonly allowedOrigins: readonly string[];
    readonly maxSessions: number;
    readonly sessionIdleMs: number;
    readonly maxBodyBytes: number;
    /** Time for which requests are still served during a shutdown, while `/readyz` already reports 503. */
    readonly drainMs: number;
  };
  readonly search: SearchConfig;
  readonly results: {
    /** Results up to this size are passed on in full; 0 passes on every result in full and stores none. */
    readonly maxTokens: number;
    /** Whether the JSON texts of results are written in a shorter form. */
    readonly compact: boolean;
    /** Whether the keys and types of results are remembered and shown to all callers of a tool. */
    readonly learnShapes: boolean;
    readonly keepMs: number;
    readonly maxBytes: number;
  };
  /** Limits of one caller over all servers; 0 means unlimited. */
  readonly callerLimits: {
    readonly rate: number;
    readonly concurrency: number;
    readonly waiting: number;
    readonly isFleetWide: boolean;
  };
  readonly redact: RedactConfig;
  /** Empty means the built-in rules; absent means no rules. */
  readonly argumentRules?: readonly ArgumentRule[] | undefined;
  /** Module paths of user-defined guards, as written in the file. */
  readonly guards: readonly string[];
  readonly profiles: Readonly<Record<string, ProfileConfig>>;
  readonly policy: PolicyConfig;
  /** Without it, every caller on this machine is served without authentication. */
  readonly auth?: CallersConfig | undefined;
  readonly storage: {
    /** URL of PostgreSQL; may hold references. Without it, the embedded database is used. */
    readonly url?: string | undefined;
    /** Reference to the secret that the replicas on one database share. Without it, the key in the state folder is used. */
    readonly key?: string | undefined;
    readonly poolSize: number;
    readonly connectTimeoutMs: number;
    readonly statementTimeoutMs: number;
  };
  /** Host and port for replica-to-replica traffic: where this replica listens, and the address that the others connect to. */
  readonly fleet: { readonly listen?: string | undefined; readonly address?: string | undefined };
  readonly audit: {
    readonly enabled: boolean;
    readonly keepMs: number;
    readonly maxBytes: number;
    readonly arguments: boolean;
    readonly results: boolean;
    readonly chain: boolean;
  };
  readonly telemetry: {
    /** Base URL of an OTLP/HTTP collector; may hold references, like the headers. */
    readonly endpoint?: string | undefined;
    readonly headers: Readonly<Record<string, string>>;
    readonly intervalMs: number;
  };
  /** Whether `/metrics` is served. */
  readonly metrics: boolean;
  /** Whether models get tools that add, change and remove servers. */
  readonly management: boolean;
  /** Whether commands, the admin API and models are forbidden to change servers. */
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
  /** Hard limit for one request, regardless of progress. */
  readonly maxCallMs: number;
  readonly shutdownMs: number;
  /** Time after which a background gateway without a client exits. */
  readonly idleExitMs: number;
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' };
}

export interface SearchConfig {
  /** Whether the tools that a caller used recently rank higher. */
  readonly usage: boolean;
  readonly rerank?:
    | {
        readonly kind: 'openai' | 'gemini' | 'rerank';
        readonly url: string;
        readonly model: string;
        /** May hold references. */
        readonly apiKey?: string | undefined;
        readonly timeoutMs: number;
        readonly top: number;
        readonly body: JsonObject;
      }
    | undefined;
}

export interface UpstreamConfig {
  readonly name: UpstreamName;
  /** Hash of the transport, with unresolved references, and the era. These settings determine which server this is and what it offers. */
  readonly fingerprint: Fingerprint;
  /** The fingerprint that a person approves before the server starts. If the entry has sign-in settings, they are part of it. */
  readonly startFingerprint: Fingerprint;
  readonly enabled: boolean;
  readonly description?: string | undefined;
  readonly tags: readonly string[];
  readonly share: 'all' | 'session' | 'fleet';
  /** The approval mode of its tools, prompts and resources. */
  readonly trust: 'first-sight' | 'manual' | 'scan';
  readonly era: 'auto' | 'legacy' | 'modern';
  readonly transport: TransportConfig;
  /** Only present for upstreams over HTTP. */
  readonly auth?: UpstreamAuth | undefined;
  readonly idle: 'adaptive' | 'never' | number;
  readonly timeouts: { readonly connectMs: number; readonly callMs: number };
  readonly limits: {
    readonly concurrency: number;
    readonly waiting: number;
    /** Maximum number of its processes if every session has its own. */
    readonly sessions: number;
    /** Calls per minute; 0 means unlimited. */
    readonly rate: number;
    /** Bytes; 0 means unlimited. */
    readonly argumentBytes: number;
    readonly resultBytes: number;
    /** Whether the limits apply to all replicas on one database together. */
    readonly isFleetWide: boolean;
  };
  /** The treatment of secrets in its calls. */
  readonly redact: Pick<RedactConfig, 'arguments' | 'results'>;
  /** Whether the argument rules apply to its calls. */
  readonly hasArgumentRules: boolean;
  /** Globs over the keys of `_meta` that the gateway passes on to it from clients, besides the keys of MCP. */
  readonly passedMeta: readonly string[];
  /** Globs over the upstream's own tool names. */
  readonly tools: {
    readonly allow: readonly string[];
    readonly deny: readonly string[];
    readonly tiers: Readonly<Record<string, Tier>>;
    /** Descriptions for clients, by the same globs. */
    readonly describe?: Readonly<Record<string, ToolDescriptionOverride>>;
    /** Expressions that select a part of each result, by the same globs. */
    readonly select?: Readonly<Record<string, string>>;
    /** Whether clients see that the server wants a tool to be loaded always. */
    readonly alwaysLoad?: boolean;
  };
}

/** The way to reach an upstream. Values may hold references such as `${env:NAME}`, which are resolved when they are used. */
export type TransportConfig =
  | (ProgramTransport & { readonly kind: 'stdio' })
  | (ProgramTransport & { readonly kind: 'cli'; readonly cli: CliConfig })
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** A line for the shell, or a program with its arguments, that prints further headers as JSON. */
      readonly headersHelper?: string | readonly string[] | undefined;
      /** `auto` tries Streamable HTTP first and legacy HTTP+SSE second. */
      readonly flavour: 'auto' | 'streamable' | 'sse';
    };

interface ProgramTransport {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute like `cwd`, unless it holds a reference or begins with `~`: then it is made absolute when it is resolved. */
  readonly envFile?: string | undefined;
  /** Relative paths in the file are relative to the file. */
  readonly cwd?: string | undefined;
}

/** The settings that turn a program that does not speak MCP into tools. */
export interface CliConfig {
  readonly depth: number;
  /** Subcommands, each as words separated by spaces. */
  readonly only: readonly string[];
  readonly help?: string | undefined;
  readonly maxOutput: number;
  /** If not empty, these tools replace those found in the help. */
  readonly tools: readonly CliPreset[];
}

export interface CliPreset {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly args: readonly string[];
  readonly parameters: Readonly<Record<string, CliParameter>>;
}

/** One parameter of a preset tool and how it is passed on the command line. */
interface CliParameter {
  readonly type: 'string' | 'integer' | 'number' | 'boolean';
  /** If it ends with `=`, the value follows in the same argument. */
  readonly flag?: string | undefined;
  readonly description?: string | undefined;
  readonly choices?: readonly string[] | undefined;
  readonly required: boolean;
  readonly repeat: boolean;
}

/** The way the gateway gets tokens for an upstream over HTTP. Strings may hold references. */
export interface UpstreamAuth {
  readonly flow: 'browser' | 'device' | 'client-credentials';
  readonly per: 'server' | 'caller';
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** PEM or JWK. */
  readonly privateKey?: string | undefined;
  readonly keyId?: string | undefined;
  readonly clientMetadataUrl?: string | undefined;
  readonly issuer?: string | undefined;
  readonly scopes: readonly string[];
  /** The range of ports for the callback of a sign-in; both are 0 for any port. */
  readonly callbackPort: { readonly first: number; readonly last: number };
  readonly allowPrivate: boolean;
}
