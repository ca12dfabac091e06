import type { ErrorCode, RpcErrorBody } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ServerFacts } from '../../model/server-facts.ts';
import type { Tier } from '../../model/tier.ts';
import type { KeyContract } from './key-contract.ts';
import type { ManageContract } from './manage-contract.ts';
import type { AdminSignIn, AdminSignInStatus } from './sign-in-contract.ts';
import type { AuditTotals } from '../../observe/audit/audit-batch.ts';
import type { AuditFilter, AuditRecord } from '../../observe/audit/audit-record.ts';
import type { ToolStats } from '../../observe/audit/tool-stats.ts';
import type { ChainVerdict } from '../../observe/audit/verify-chain.ts';
import type {
  AdminApprovals,
  AdminAsWhom,
  AdminDecision,
  AdminLock,
  AdminNamed,
  AdminWaitingCall,
} from './approval-contract.ts';
import type { DashboardContract } from './dashboard-contract.ts';
import type { AdminStatus } from './status-contract.ts';

/** Pages import types from here alone. */
export type * from './approval-contract.ts';
export type * from './dashboard-contract.ts';
export type * from './key-contract.ts';
export type * from './manage-contract.ts';
export type * from './sign-in-contract.ts';
export type * from './status-contract.ts';
export type { AuditRecord } from '../../observe/audit/audit-record.ts';

/**
 * Every route of the admin API by method and path: what it takes and what it answers. Names that begin with a colon are
 * parts of the path. Adding a route is one line here and one `route(…)` in a file of `routes/`.
 */
export interface AdminContract extends KeyContract, ManageContract, DashboardContract {
  'GET /api/health': { answer: AdminHealth };
  'GET /api/status': { answer: AdminStatus };
  /** Calls are refused until it is resumed, also by the next gateway; those under way go on, and lists are answered. */
  'POST /api/pause': { answer: AdminPause };
  'POST /api/resume': { answer: AdminPause };
  'POST /api/stop': { answer: { readonly stopping: true } };

  'GET /api/servers': { answer: readonly AdminServer[] };
  'POST /api/servers/:name/restart': { answer: AdminServer };
  /** Lists it again now; fails with the reason why it cannot be listed. */
  'POST /api/servers/:name/refresh': { answer: AdminServer };
  /** Lists all again now; what cannot be listed has its problem in the answer. */
  'POST /api/refresh': { answer: readonly AdminServer[] };

  /** Who is signed in to what, for every server over HTTP. */
  'GET /api/sign-ins': { answer: readonly AdminSignInStatus[] };
  /** Begins a sign-in, or gives the one that is open: what the answer says is to be opened in a browser at the gateway's machine, or anywhere with `device`. */
  'POST /api/servers/:name/sign-in': {
    body: { caller?: string; flow?: 'browser' | 'device' };
    answer: AdminSignIn;
  };
  /** How far the last one is; with `accept: text/event-stream` an event `state` per change until it is over. */
  'GET /api/servers/:name/sign-in': { query: { caller?: string }; answer: AdminSignIn };
  'POST /api/servers/:name/sign-in/cancel': { body: { caller?: string }; answer: AdminSignIn };
  /** Forgets the tokens, and revokes them where the authorization server can. */
  'POST /api/servers/:name/sign-out': {
    body: { caller?: string };
    answer: { readonly result: 'revoked' | 'forgotten' | 'not-signed-in' };
  };

  /** With `cached` nothing is started: what was listed before is all there is. The same holds below. */
  'GET /api/tools': { query: { server?: string; cached?: boolean }; answer: readonly AdminTool[] };
  'GET /api/prompts': { query: { server?: string; cached?: boolean }; answer: readonly AdminPrompt[] };
  'GET /api/resources': { query: { server?: string; cached?: boolean }; answer: readonly AdminResource[] };
  'GET /api/templates': { query: { server?: string; cached?: boolean }; answer: readonly AdminTemplate[] };
  /** Without a limit, what matches much worse than the best is left out. */
  'GET /api/search': {
    query: { q: string; limit?: number; server?: string; cached?: boolean };
    answer: readonly AdminHit[];
  };
  /** A tool with its whole definition. */
  'GET /api/describe': { query: { name: string; server?: string }; answer: AdminToolDetail };
  /** Why a name is what it is: hidden, unreachable, unknown; nothing is started for it. */
  'GET /api/explain': { query: { name: string; client?: string } & AdminAsWhom; answer: AdminExplanation };
  /** What waits for a person; nothing is started for it. */
  'GET /api/approvals': { answer: AdminApprovals };
  /** All or nothing: fails when one of them is not offered as it was looked at any more. */
  'POST /api/approvals': {
    body: { decision: 'accept' | 'refuse'; items: readonly AdminNamed[] };
    answer: AdminApprovals;
  };
  /** About a call that waits. */
  'POST /api/approve': { body: { call: string; decision: 'accept' | 'refuse' }; answer: AdminWaitingCall };
  /** Lists every server anew; fails when one cannot be listed. */
  'GET /api/lock': { answer: AdminLock };
  /** Names that begin like this, from what is cached, for shells. */
  'GET /api/names': { query: { kind: AdminNameKind; prefix?: string }; answer: readonly string[] };

  /** The answer of a tool as it came; with `accept: text/event-stream` an `AdminCallEvent` per event. */
  'POST /api/call': { body: AdminCall; answer: JsonObject };
  /** What a person says to the question of a call, as a result of `elicitation/create`; false when nobody waits for it. */
  'POST /api/answer': { body: { id: string; result: JsonObject }; answer: { readonly taken: boolean } };
  'POST /api/prompt': {
    body: { name: string; server?: string; args?: Readonly<Record<string, string>> };
    answer: JsonObject;
  };
  'POST /api/read': { body: { uri: string; server?: string }; answer: JsonObject };
  /** Completes an argument of a prompt or a template, as `completion/complete` does. */
  'POST /api/complete': {
    body: { ref: JsonObject; argument: { readonly name: string; readonly value: string } };
    answer: JsonObject;
  };

  /** What was done, by whom, and how it ended; the newest first unless `order` is `asc`. */
  'GET /api/audit': {
    query: AdminAuditFilter & { limit?: number; order?: 'asc' | 'desc' };
    answer: readonly AuditRecord[];
  };
  'GET /api/audit/totals': { query: AdminAuditFilter; answer: AuditTotals };
  /** Whether the chain of records is whole; `expect` is a hash of it that was noted earlier. */
  'GET /api/audit/verify': { query: { expect?: string }; answer: ChainVerdict };
  /** Per entry, for as long as the database exists. */
  'GET /api/stats': { query: { server?: string; tool?: string }; answer: readonly ToolStats[] };
}

/** Conditions on records that all hold; a star in a text stands for anything. `tool` is an exposed name or a server's own. */
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
  /** Since when calls are refused, in milliseconds since 1970; absent while they are let through. */
  readonly pausedSince?: number;
}

export interface AdminServer {
  readonly name: string;
  readonly description?: string;
  readonly enabled: boolean;
  /** A state of the connection (`held`: a person has to agree to it first), or `disabled`. */
  readonly state: string;
  readonly share?: 'all' | 'session' | 'fleet';
  /** References stay references; what may be a secret is not shown. */
  readonly transport?: AdminTransport;
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  readonly inFlight: number;
  readonly pid?: number;
  /** When it last said what it offers; absent before the first time. */
  readonly listedAt?: number;
  readonly problem?: {
    readonly code: ErrorCode;
    readonly message: string;
    /** When it is tried again by itself. */
    readonly retryAt?: number;
    /** How often it was tried in vain in a row. */
    readonly attempts?: number;
  };
  readonly server?: ServerFacts;
}

export type AdminTransport =
  | {
      readonly kind: 'stdio' | 'cli';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
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
  /** As the server calls it. */
  readonly original: string;
  readonly title?: string;
  readonly description?: string;
  readonly tier: Tier;
}

export interface AdminToolDetail extends AdminTool {
  readonly fingerprint: string;
  /** As the server gave it. */
  readonly definition: JsonObject;
}

export interface AdminHit extends AdminTool {
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
  /** The exposed name, or the server's own one when `server` is given. */
  readonly name: string;
  readonly server?: string;
  readonly args?: JsonObject;
  readonly timeoutMs?: number;
  /** From which level on log messages of the server are wanted as events. */
  readonly logLevel?: string;
  /** Whether somebody is there who answers forms of the server; only with events. */
  readonly asks?: boolean;
}

/** A form that a server wants to have filled in during a call. */
export interface AdminQuestion {
  readonly id: string;
  /** `params` of its `elicitation/create`. */
  readonly params: JsonObject;
}

/** What a call tells while it runs; the last one is its result or its error. */
export type AdminCallEvent =
  | { readonly event: 'progress'; readonly data: JsonObject }
  | { readonly event: 'log'; readonly data: JsonObject }
  | { readonly event: 'question'; readonly data: AdminQuestion }
  | { readonly event: 'result'; readonly data: JsonObject }
  | { readonly event: 'error'; readonly data: AdminProblem };

/** The body of every answer that is not a success. */
export interface AdminProblem {
  readonly error:
    | { readonly code: ErrorCode; readonly message: string; readonly details: JsonObject }
    /** What a server answered, as it came. */
    | { readonly rpc: RpcErrorBody };
}

export interface AdminExplanation {
  readonly name: string;
  readonly verdict: 'usable' | 'held' | 'hidden' | 'unreachable' | 'unlisted' | 'disabled' | 'unknown';
  readonly kind?: AdminNameKind;
  readonly server?: string;
  readonly original?: string;
  /** Sentences for people, the most important first. */
  readonly reasons: readonly string[];
  /** Commands or edits that change it. */
  readonly fixes: readonly string[];
  /** Names like it, where it is unknown. */
  readonly near: readonly string[];
  /** What the rules say about it, for the caller who was asked about. */
  readonly decision?: AdminDecision;
  /** How the client that was asked about sees it, where that is otherwise than others do. */
  readonly forClient?: { readonly client: string; readonly name: string; readonly says: readonly string[] };
}
