import type { ConnectedClient } from '../../core/connected-client.ts';
import type { Tier } from '../../core/tier.ts';
import type { AuditRecord } from '../../observability/audit/audit-record.ts';
import type { CallTimeSeries } from '../../observability/audit/call-time-series.ts';
import type { AdminCallerQuery } from './approval-contract.ts';
import type { AdminAuditFilter, AdminCallEvent, AdminServer, AdminSignIn } from './contract.ts';
import type { AdminConfigState } from './management-contract.ts';

/** Routes that only the dashboard uses; part of `AdminContract`. */
export interface DashboardContract {
  /** The current session; responds with 401 if the browser is not signed in. */
  'GET /api/session': { response: AdminSession };
  /** Signs a browser in with the admin key; the response sets a cookie. After five wrong keys from one address within a minute, further wrong keys get a 429 response. */
  'POST /api/session': { body: { key: string }; response: AdminSession };
  /** Signs the browser out and invalidates its cookie. */
  'DELETE /api/session': { response: { readonly signedOut: true } };
  /** Creates a link that signs in one browser once, within five minutes. Requires the admin key or the socket. */
  'POST /api/session/link': { response: AdminSessionLink };

  /** Calls, errors and durations over time, in buckets of `bucket` milliseconds that start at `from`. */
  'GET /api/audit/series': {
    query: AdminAuditFilter & { from?: number; to?: number; bucket?: number; by?: 'server' };
    response: AdminTimeSeries;
  };
  /** The median call duration of each server per minute, for the last hour. */
  'GET /api/latency': { response: AdminLatency };
  /** Estimates the tokens that tool definitions take up in every chat: `menu` is the number for the tools as the gateway presents them, `whole` the number if it presented all tools. */
  'GET /api/tokens/listing': { response: { readonly whole: number; readonly menu: number } };
  /** The tokens that tool lists and searches cost clients, and the tokens that listing all tools would have cost. */
  'GET /api/tokens': { query: { days?: number }; response: AdminTokenUsage };

  /** The connected clients, the most recently used first. A fleet lists the clients of all its replicas. */
  'GET /api/clients': { query: { limit?: number }; response: AdminClients };

  'GET /api/profiles': { response: readonly AdminProfile[] };
  /** The tools that another caller would see: the owner of a key, or a caller with the given properties. */
  'GET /api/view': { query: { key?: string } & AdminCallerQuery; response: AdminCallerView };
}

/**
 * Routes that respond with a stream or a document instead of a JSON value of the contract. The generator of openapi.json reads
 * this type.
 *
 * @public
 */
export interface AdminStreams {
  /** Streams the events of a running call, if requested with `accept: text/event-stream`. */
  'POST /api/call': { type: 'text/event-stream'; event: AdminCallEvent };
  /** Streams an event per change until the sign-in has ended, if requested with `accept: text/event-stream`. */
  'GET /api/servers/:name/sign-in': {
    query: { caller?: string };
    type: 'text/event-stream';
    event: { readonly event: 'state'; readonly data: AdminSignIn };
  };
  /** All changes as server-sent events with ids; `Last-Event-ID` or `after` continues after an earlier event. */
  'GET /api/events': { query: { after?: string }; type: 'text/event-stream'; event: AdminEvent };
  'GET /api/audit/export': {
    query: AdminAuditFilter & { format?: 'jsonl' | 'csv' };
    type: 'application/x-ndjson' | 'text/csv';
  };
  /** Streams an event `record` for each audit record that is written. */
  'GET /api/audit/events': {
    query: AdminAuditFilter;
    type: 'text/event-stream';
    event: { readonly event: 'record'; readonly data: AuditRecord };
  };
  /** This description of all routes. */
  'GET /api/openapi.json': { type: 'application/json' };
}

export interface AdminSession {
  /** The method that authenticated the request. */
  readonly by: 'session' | 'key' | 'socket';
  /** Whether the caller counts as a person. Servers that a person adds need no approval. */
  readonly isPerson: boolean;
  readonly caller: string;
  /** When the session ends if it is not used again. */
  readonly expiresAt?: number | undefined;
}

export interface AdminSessionLink {
  readonly url: string;
  readonly expiresAt: number;
}

/** Every list has one element per bucket; `at` holds the start times of the buckets. */
export interface AdminTimeSeries {
  readonly from: number;
  readonly to: number;
  readonly bucket: number;
  readonly at: readonly number[];
  /** A single series for all servers, or one per server, busiest first. */
  readonly series: readonly CallTimeSeries[];
}

export interface AdminLatency {
  readonly from: number;
  readonly to: number;
  readonly bucket: number;
  readonly servers: readonly {
    readonly server: string;
    readonly calls: number;
    /** Milliseconds; null for minutes without calls. */
    readonly p50: readonly (number | null)[];
  }[];
}

/** Estimated tokens. `saved` is `whole - menu - search`, which is negative if searching cost more than it saved. */
export interface AdminTokenCounts {
  /** The cost if the same clients had received every tool in full. */
  readonly whole: number;
  /** The cost of the tool lists and instructions that the clients received. */
  readonly menu: number;
  /** The cost of searching: the arguments and results of `search_tools` and `describe_tools`. */
  readonly search: number;
  readonly saved: number;
  readonly lists: number;
  readonly searches: number;
}

export interface AdminTokenUsage extends AdminTokenCounts {
  /** Every requested day, the oldest first, in the time zone of the gateway. */
  readonly days: readonly ({ readonly day: string } & AdminTokenCounts)[];
}

export interface AdminConnectedClient extends ConnectedClient {
  /** The replica of the fleet that serves the client. */
  readonly replica?: string | undefined;
}

export interface AdminClients {
  readonly clients: readonly AdminConnectedClient[];
  /** The number of clients; `clients` contains at most `limit` of them. */
  readonly total: number;
  /** Replicas that did not respond, so their clients are missing. */
  readonly missing: readonly string[];
}

export interface AdminProfile {
  readonly name: string;
  readonly description?: string | undefined;
  readonly expose?: string | undefined;
  /** The URL of the profile for HTTP clients. */
  readonly url?: string | undefined;
  readonly servers: readonly string[];
  /** The number of entries of each kind that its callers see. */
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  /** The names of the keys that are bound to it. */
  readonly keys: readonly string[];
}

export interface AdminCallerView {
  readonly caller: {
    readonly id: string;
    readonly profile: string;
    readonly groups: readonly string[];
    readonly roles: readonly string[];
    readonly tier?: Tier | undefined;
  };
  readonly servers: readonly { readonly name: string; readonly isSeen: boolean }[];
  /** All tools, including those that are hidden from this caller. */
  readonly tools: readonly AdminToolDecision[];
}

export interface AdminToolDecision {
  readonly name: string;
  readonly server: string;
  readonly tier: Tier;
  /** `held` means held for approval. A held tool that the rules hide has the verdict `hide`. */
  readonly verdict: 'allow' | 'ask' | 'hide' | 'held';
  /** The rule, profile or tier that decided. */
  readonly rule: string;
  readonly message?: string | undefined;
}

/** One event of `GET /api/events`. */
export type AdminEvent =
  /** The first event. If `since` differs from the previous value, the gateway was restarted. */
  | { readonly event: 'hello'; readonly data: { readonly version: string; readonly since: number } }
  /** Events were missed; the client must load everything again. */
  | { readonly event: 'reset'; readonly data: { readonly reason: 'gap' | 'slow' | 'restart' } }
  /** The state, the counts or the problem of a server changed. */
  | { readonly event: 'server'; readonly data: AdminServer }
  | { readonly event: 'server-gone'; readonly data: { readonly name: string } }
  /** Says which lists changed. */
  | {
      readonly event: 'catalog';
      readonly data: { readonly tools: boolean; readonly prompts: boolean; readonly resources: boolean };
    }
  /** The new number of held items. */
  | { readonly event: 'approvals'; readonly data: AdminHeldCounts }
  /** An operation finished, or a person changed something. */
  | { readonly event: 'record'; readonly data: AuditRecord }
  /** The configuration was read again: it is active, or `problem` says why not. */
  | { readonly event: 'config'; readonly data: AdminConfigState }
  | { readonly event: 'sign-in'; readonly data: AdminSignIn }
  /** A key was created or revoked. */
  | {
      readonly event: 'keys';
      readonly data: { readonly name: string; readonly action: 'add' | 'revoke' };
    }
  /** A client of this gateway connected or left. */
  | { readonly event: 'clients'; readonly data: { readonly total: number } }
  /** Sent every five seconds, and when a pause begins or ends. */
  | { readonly event: 'tick'; readonly data: AdminTick };

export interface AdminHeldCounts {
  readonly servers: number;
  readonly entries: number;
  readonly calls: number;
}

export interface AdminTick {
  readonly at: number;
  readonly clients: number;
  readonly inFlight: number;
  /** The number of audit records written since the start. */
  readonly records: number;
  /** When the pause began; absent while calls are accepted. */
  readonly pausedSince?: number | undefined;
}
