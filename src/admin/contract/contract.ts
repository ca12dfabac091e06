import type {
  OfferedSignIn as AdminSignIn,
  SignInStatus as AdminSignInStatus,
} from '../../auth/upstream/sign-in-status.ts';
import type { ErrorCode, RpcErrorBody } from '../../core/errors.ts';
import type { FailureReason } from '../../core/failure-reason.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ServerFacts } from '../../core/server-facts.ts';
import type { Tier } from '../../core/tier.ts';
import type { ManagementContract } from './management-contract.ts';
import type { AuditTotals } from '../../observability/audit/audit-messages.ts';
import type { AuditFilter, AuditRecord } from '../../observability/audit/audit-record.ts';
import type { ToolStats } from '../../observability/audit/tool-stats.ts';
import type { ChainVerification } from '../../observability/audit/hash-chain.ts';
import type {
  AdminApprovals,
  AdminCallerQuery,
  AdminDecision,
  AdminLock,
  AdminItemReference,
  AdminHeldCall,
} from './approval-contract.ts';
import type { DashboardContract } from './dashboard-contract.ts';
import type { AdminStatus } from './status-contract.ts';

/** The dashboard imports its types from this file only. */
export type * from './approval-contract.ts';
export type * from './dashboard-contract.ts';
export type * from './management-contract.ts';
export type * from './status-contract.ts';
export type { AdminSignIn, AdminSignInStatus, AuditRecord };

/**
 * Every route of the admin API by method and path, with its input and its response. Names that begin with a colon are path
 * parameters. To add a route, add a line here and an `addRoute(…)` to a file in `routes/`.
 */
export interface AdminContract extends ManagementContract, DashboardContract {
  'GET /api/health': { response: AdminHealth };
  'GET /api/status': { response: AdminStatus };
  /** Refuses new calls until `POST /api/resume`, even after a restart. Running calls continue, and lists are still answered. */
  'POST /api/pause': { response: AdminPause };
  'POST /api/resume': { response: AdminPause };
  'POST /api/stop': { response: { readonly stopping: true } };

  'GET /api/servers': { response: readonly AdminServer[] };
  'POST /api/servers/:name/restart': { response: AdminServer };
  /** Fetches the listing of the server again now; fails with the reason if that is not possible. */
  'POST /api/servers/:name/refresh': { response: AdminServer };
  /** Fetches the listings of all servers again now; a server whose listing cannot be fetched has a `problem` in the response. */
  'POST /api/refresh': { response: readonly AdminServer[] };

  /** The sign-in state of every HTTP server. */
  'GET /api/sign-ins': { response: readonly AdminSignInStatus[] };
  /** Starts a sign-in, or returns the open one. Open the URL of the response in a browser on the gateway's machine; with the flow `device`, on any device. */
  'POST /api/servers/:name/sign-in': {
    body: { caller?: string; flow?: 'browser' | 'device' };
    response: AdminSignIn;
  };
  /** The state of the last sign-in; with `accept: text/event-stream`, an event `state` per change until it has ended. */
  'GET /api/servers/:name/sign-in': { query: { caller?: string }; response: AdminSignIn };
  'POST /api/servers/:name/sign-in/cancel': { body: { caller?: string }; response: AdminSignIn };
  /** Deletes the tokens, and revokes them if the authorization server supports it. */
  'POST /api/servers/:name/sign-out': {
    body: { caller?: string };
    response: { readonly result: 'revoked' | 'forgotten' | 'not-signed-in' };
  };

  /** Lists tools. With `cached`, uses only earlier listings and starts no server; the other lists and the search do the same. */
  'GET /api/tools': { query: { server?: string; cached?: boolean }; response: readonly AdminTool[] };
  'GET /api/prompts': { query: { server?: string; cached?: boolean }; response: readonly AdminPrompt[] };
  'GET /api/resources': { query: { server?: string; cached?: boolean }; response: readonly AdminResource[] };
  'GET /api/templates': { query: { server?: string; cached?: boolean }; response: readonly AdminTemplate[] };
  /** Without a limit, results that match much worse than the best one are omitted. */
  'GET /api/search': {
    query: { q: string; limit?: number; server?: string; cached?: boolean };
    response: readonly AdminSearchHit[];
  };
  /** A tool with its complete definition. */
  'GET /api/describe': { query: { name: string; server?: string }; response: AdminToolDetail };
  /** Explains why a name is usable, held, hidden, unreachable or unknown; starts no server. */
  'GET /api/explain': {
    query: { name: string; client?: string } & AdminCallerQuery;
    response: AdminExplanation;
  };
  /** Everything that is held for approval; starts no server. */
  'GET /api/approvals': { response: AdminApprovals };
  /** Decides about all items or none. Fails if an item has changed since it was reviewed, or is no longer offered. */
  'POST /api/approvals': {
    body: { decision: 'accept' | 'refuse'; items: readonly AdminItemReference[] };
    response: AdminApprovals;
  };
  /** Decides about a held call. */
  'POST /api/approve': { body: { call: string; decision: 'accept' | 'refuse' }; response: AdminHeldCall };
  /** Fetches the listings of all servers and returns the lockfile for them; fails if a listing cannot be fetched. */
  'GET /api/lock': { response: AdminLock };
  /** Names with this prefix from earlier listings, for shell completion. */
  'GET /api/names': { query: { kind: AdminNameKind; prefix?: string }; response: readonly string[] };

  /** The unchanged result of a tool; with `accept: text/event-stream`, a stream of `AdminCallEvent`. */
  'POST /api/call': { body: AdminCall; response: JsonObject };
  /** Answers the question of a running call with a result of `elicitation/create`; `taken` is false if the question is no longer open. */
  'POST /api/answer': { body: { id: string; result: JsonObject }; response: { readonly taken: boolean } };
  'POST /api/prompt': {
    body: { name: string; server?: string; args?: Readonly<Record<string, string>> };
    response: JsonObject;
  };
  'POST /api/read': { body: { uri: string; server?: string }; response: JsonObject };
  /** Completes an argument of a prompt or a resource template, as `completion/complete` does. */
  'POST /api/complete': {
    body: { ref: JsonObject; argument: { readonly name: string; readonly value: string } };
    response: JsonObject;
  };

  /** Audit records of operations with caller and outcome; the newest first unless `order` is `asc`. */
  'GET /api/audit': {
    query: AdminAuditFilter & { limit?: number; order?: 'asc' | 'desc' };
    response: readonly AuditRecord[];
  };
  'GET /api/audit/totals': { query: AdminAuditFilter; response: AuditTotals };
  /** Whether the hash chain of the records is intact; `expect` is an earlier hash that the chain must still contain. */
  'GET /api/audit/verify': { query: { expect?: string }; response: ChainVerification };
  /** Statistics per entry since the database was created. */
  'GET /api/stats': { query: { server?: string; tool?: string }; response: readonly ToolStats[] };

  /** The API keys of HTTP callers. Only the response that creates a key contains the key itself. */
  'GET /api/keys': { response: readonly AdminKey[] };
  'POST /api/keys': { body: AdminNewKey; response: AdminKey & { readonly key: string } };
  'POST /api/keys/:name/revoke': { response: AdminKey };
}

/** A record must meet all conditions. `*` in a text matches any characters. `tool` is an exposed or an original name. */
export interface AdminAuditFilter extends AuditFilter {
  readonly tool?: string;
}

export type AdminRoute = keyof AdminContract;
export type AdminNameKind = 'server' | 'tool' | 'prompt' | 'resource';

export interface AdminHealth {
  readonly version: string;
  readonly pid: number;
}

export interface AdminPause {
  /** When the pause began, in milliseconds since 1970; absent while calls are accepted. */
  readonly pausedSince?: number | undefined;
}

export interface AdminServer {
  readonly name: string;
  readonly description?: string | undefined;
  readonly enabled: boolean;
  /** The state of the connection, `installing` while a package launcher starts the server for the first time, `held` while the server is held for approval, or `disabled`. */
  readonly state: string;
  readonly share?: 'all' | 'session' | 'fleet' | undefined;
  /** References are shown as references; values that may be secrets are masked. */
  readonly transport?: AdminTransport | undefined;
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  readonly inFlight: number;
  readonly pid?: number | undefined;
  /** When the listing of the server was last fetched; absent before the first time. */
  readonly listedAt?: number | undefined;
  readonly problem?:
    | {
        readonly code: ErrorCode;
        readonly message: string;
        /** When the next automatic attempt starts. */
        readonly retryAt?: number;
        /** The number of consecutive failed attempts. */
        readonly attempts?: number;
        /** The reason as a code; absent for problems that have none, such as a missing approval. */
        readonly reason?: FailureReason | undefined;
        /** The message without the fix, for pages that show the fix separately. */
        readonly summary?: string | undefined;
        /** The command or edit that makes the server usable again. */
        readonly fix?: string | undefined;
      }
    | undefined;
  readonly server?: ServerFacts | undefined;
}

export type AdminTransport =
  | {
      readonly kind: 'stdio' | 'cli';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string | undefined;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly flavour: string;
      readonly headers: Readonly<Record<string, string>>;
    };

export interface AdminTool {
  readonly name: string;
  readonly server: string;
  /** The name on the server. */
  readonly original: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly tier: Tier;
}

export interface AdminToolDetail extends AdminTool {
  readonly fingerprint: string;
  /** The definition as the server sent it. */
  readonly definition: JsonObject;
}

export interface AdminSearchHit extends AdminTool {
  readonly score: number;
}

export interface AdminPrompt {
  readonly name: string;
  readonly server: string;
  readonly original: string;
  readonly definition: JsonObject;
}

export interface AdminResource {
  readonly uri: string;
  readonly server: string;
  readonly definition: JsonObject;
}

export interface AdminTemplate {
  readonly uriTemplate: string;
  readonly server: string;
  readonly definition: JsonObject;
}

export interface AdminCall {
  /** The exposed name, or the original name if `server` is given. */
  readonly name: string;
  readonly server?: string;
  readonly args?: JsonObject;
  readonly timeoutMs?: number;
  /** The minimum level of server log messages that are sent as events. */
  readonly logLevel?: string;
  /** Whether the client can answer forms from the server. Requires an event stream. */
  readonly asks?: boolean;
}

/** A form that a server asks the user to fill in during a call. */
export interface AdminQuestion {
  readonly id: string;
  /** The `params` of `elicitation/create`. */
  readonly params: JsonObject;
}

/** An event of a running call; the last one is its result or its error. */
export type AdminCallEvent =
  | { readonly event: 'progress'; readonly data: JsonObject }
  | { readonly event: 'log'; readonly data: JsonObject }
  | { readonly event: 'question'; readonly data: AdminQuestion }
  | { readonly event: 'result'; readonly data: JsonObject }
  | { readonly event: 'error'; readonly data: AdminProblem };

/** The body of every error response. */
export interface AdminProblem {
  readonly error:
    | { readonly code: ErrorCode; readonly message: string; readonly details: JsonObject }
    /** The unchanged error of a server. */
    | { readonly rpc: RpcErrorBody };
}

export interface AdminExplanation {
  readonly name: string;
  readonly verdict: 'usable' | 'held' | 'hidden' | 'unreachable' | 'unlisted' | 'disabled' | 'unknown';
  readonly kind?: AdminNameKind | undefined;
  readonly server?: string;
  readonly original?: string;
  /** Explanations for people, the most important first. */
  readonly reasons: readonly string[];
  /** Commands or edits that make the name usable. */
  readonly fixes: readonly string[];
  /** Similar names, if the name is unknown. */
  readonly near: readonly string[];
  /** The decision of the rules for the given caller. */
  readonly decision?: AdminDecision | undefined;
  /** The tool as the given client sees it. */
  readonly forClient?:
    | {
        readonly client: string;
        readonly name: string;
        readonly says: readonly string[];
      }
    | undefined;
}

export interface AdminNewKey {
  readonly name: string;
  /** Absent if the key is not bound to a profile. */
  readonly profile?: string | undefined;
  readonly tier?: Tier | undefined;
  readonly groups?: readonly string[];
  readonly roles?: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
}

export interface AdminKey extends AdminNewKey {
  /** The first characters of the key, which are not secret. */
  readonly start: string;
  readonly createdAt: number;
  readonly usedAt?: number | undefined;
  /** Whether the running configuration accepts keys. */
  readonly isAccepted: boolean;
}
