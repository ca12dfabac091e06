import type { Tier } from '../../model/tier.ts';
import type { AuditRecord } from '../../observe/audit/audit-record.ts';
import type { Series } from '../../observe/audit/audit-series.ts';
import type { AdminAsWhom } from './approval-contract.ts';
import type { AdminAuditFilter, AdminCallEvent, AdminServer } from './contract.ts';
import type { AdminConfigState } from './manage-contract.ts';
import type { AdminSignIn } from './sign-in-contract.ts';

/** What only pages need; merged into the contract of all routes. */
export interface DashboardContract {
  /** Who asks; answers 401 to whoever is not signed in. */
  'GET /api/session': { answer: AdminSession };
  /** Signs a browser in with the admin key: the answer sets a cookie. Wrong keys are answered ever more slowly. */
  'POST /api/session': { body: { key: string }; answer: AdminSession };
  /** Signs the browser out, and forgets its cookie here as well. */
  'DELETE /api/session': { answer: { readonly signedOut: true } };
  /** A link that signs one browser in, once and soon; only for the key and for commands on this machine. */
  'POST /api/session/link': { answer: AdminSessionLink };

  /** Calls, errors and durations over time: buckets of `bucket` milliseconds from `from` on. */
  'GET /api/audit/series': {
    query: AdminAuditFilter & { from?: number; to?: number; bucket?: number; by?: 'server' };
    answer: AdminSeries;
  };
  /** The median of each server's calls, a point per minute, for the last hour. */
  'GET /api/latency': { answer: AdminLatency };
  /** What clients were sent to know the tools, and what all of them would have cost. */
  'GET /api/tokens': { query: { days?: number }; answer: AdminTokens };

  'GET /api/profiles': { answer: readonly AdminProfile[] };
  /** What somebody would see: whoever has this key, or is who these words say. */
  'GET /api/view': { query: { key?: string } & AdminAsWhom; answer: AdminView };
}

/**
 * Routes that answer with a stream or a document instead of one JSON value of ours; read where the description of all routes is
 * made.
 *
 * @public
 */
export interface AdminStreams {
  /** With `accept: text/event-stream`, what a call tells while it runs. */
  'POST /api/call': { type: 'text/event-stream'; event: AdminCallEvent };
  /** With `accept: text/event-stream`, an event per change until it is over. */
  'GET /api/servers/:name/sign-in': {
    query: { caller?: string };
    type: 'text/event-stream';
    event: { readonly event: 'state'; readonly data: AdminSignIn };
  };
  /** Everything that changes, as server-sent events with ids; `Last-Event-ID`, or `after`, goes on where a reader was. */
  'GET /api/events': { query: { after?: string }; type: 'text/event-stream'; event: AdminEvent };
  'GET /api/audit/export': {
    query: AdminAuditFilter & { format?: 'jsonl' | 'csv' };
    type: 'application/x-ndjson' | 'text/csv';
  };
  /** Records as they are written, an event `record` each. */
  'GET /api/audit/events': {
    query: AdminAuditFilter;
    type: 'text/event-stream';
    event: { readonly event: 'record'; readonly data: AuditRecord };
  };
  /** This very description of all routes. */
  'GET /api/openapi.json': { type: 'application/json' };
}

export interface AdminSession {
  /** How the one who asks has proved who it is. */
  readonly by: 'session' | 'key' | 'socket';
  /** Whether a person sits there, whose additions need no approval. */
  readonly isPerson: boolean;
  readonly caller: string;
  /** Of a session: when it ends unless it is used before. */
  readonly expiresAt?: number;
}

export interface AdminSessionLink {
  readonly url: string;
  readonly expiresAt: number;
}

/** Every list has an element per bucket; `at` is where each begins. */
export interface AdminSeries {
  readonly from: number;
  readonly to: number;
  readonly bucket: number;
  readonly at: readonly number[];
  /** One for everything, or one per server, the busiest first. */
  readonly series: readonly Series[];
}

export interface AdminLatency {
  readonly from: number;
  readonly to: number;
  readonly bucket: number;
  readonly servers: readonly {
    readonly server: string;
    readonly calls: number;
    /** Milliseconds; null where nothing was called. */
    readonly p50: readonly (number | null)[];
  }[];
}

/** Tokens are estimated. `saved` is `whole - menu - search`, and below zero where searching cost more than it spared. */
export interface AdminTokenCounts {
  /** What listing every tool in full would have cost the same clients. */
  readonly whole: number;
  /** What their tool lists cost. */
  readonly menu: number;
  /** What their searches and descriptions cost, questions and answers. */
  readonly search: number;
  readonly saved: number;
  readonly lists: number;
  readonly searches: number;
}

export interface AdminTokens extends AdminTokenCounts {
  /** The oldest first, every day of the time asked for; days are those of the gateway's clock. */
  readonly days: readonly ({ readonly day: string } & AdminTokenCounts)[];
}

export interface AdminProfile {
  readonly name: string;
  readonly description?: string;
  readonly expose?: string;
  /** Where clients find it over HTTP. */
  readonly url?: string;
  readonly servers: readonly string[];
  /** How many of each its callers see. */
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  /** Names of the keys that are bound to it. */
  readonly keys: readonly string[];
}

export interface AdminView {
  readonly caller: {
    readonly id: string;
    readonly profile: string;
    readonly groups: readonly string[];
    readonly roles: readonly string[];
    readonly tier?: Tier;
  };
  readonly servers: readonly { readonly name: string; readonly isSeen: boolean }[];
  /** All there are, those that are hidden from this caller as well. */
  readonly tools: readonly AdminSeenTool[];
}

export interface AdminSeenTool {
  readonly name: string;
  readonly server: string;
  readonly tier: Tier;
  /** `held` is what waits for approval, whatever the rules say. */
  readonly verdict: 'allow' | 'ask' | 'hide' | 'held';
  /** The rule, profile or tier that decides. */
  readonly rule: string;
  readonly message?: string;
}

/** One event of `GET /api/events`. */
export type AdminEvent =
  /** The first one: which gateway this is. Another `since` means that it was restarted. */
  | { readonly event: 'hello'; readonly data: { readonly version: string; readonly since: number } }
  /** Events were missed; whoever reads asks for everything again. */
  | { readonly event: 'reset'; readonly data: { readonly reason: 'gap' | 'slow' | 'restart' } }
  /** A server is otherwise than before: its state, its numbers, its problem. */
  | { readonly event: 'server'; readonly data: AdminServer }
  | { readonly event: 'server-gone'; readonly data: { readonly name: string } }
  /** Which lists differ. */
  | {
      readonly event: 'catalog';
      readonly data: { readonly tools: boolean; readonly prompts: boolean; readonly resources: boolean };
    }
  /** How much waits for a person now. */
  | { readonly event: 'approvals'; readonly data: AdminHeldCounts }
  /** An operation has ended, or somebody has done something to the gateway. */
  | { readonly event: 'record'; readonly data: AuditRecord }
  /** The configuration was read again: it is in force, or nothing changed because of a mistake in it. */
  | { readonly event: 'config'; readonly data: AdminConfigState }
  | { readonly event: 'sign-in'; readonly data: AdminSignIn }
  /** Keys were made or revoked. */
  | {
      readonly event: 'keys';
      readonly data: { readonly name: string; readonly action: 'add' | 'revoke' };
    }
  /** Every few seconds. */
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
  /** Records written since the start. */
  readonly records: number;
  /** While calls are refused because a person said so. */
  readonly pausedSince?: number;
}
