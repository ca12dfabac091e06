import type { AuditTables } from './audit-tables.ts';
import type { SessionTables } from './session-tables.ts';

/** The schema as queries see it; `migrations.ts` makes it. */
export interface Tables extends AuditTables, SessionTables {
  readonly listings: ListingsTable;
  readonly eras: ErasTable;
  readonly sign_ins: SignInsTable;
  readonly oauth_clients: OauthClientsTable;
  readonly sign_in_notes: SignInNotesTable;
  readonly leases: LeasesTable;
  readonly caller_keys: CallerKeysTable;
  readonly client_registrations: ClientRegistrationsTable;
  readonly client_grants: ClientGrantsTable;
  readonly client_tokens: ClientTokensTable;
  readonly client_steps: ClientStepsTable;
  readonly chores: ChoresTable;
  readonly shares: SharesTable;
  readonly runtime_servers: RuntimeServersTable;
  readonly approvals: ApprovalsTable;
  readonly menu_tokens: MenuTokensTable;
  readonly changes: ChangesTable;
  readonly kept_results: KeptResultsTable;
  readonly replicas: ReplicasTable;
  readonly ownerships: OwnershipsTable;
}

/** A server that was changed by program, for all gateways. */
interface RuntimeServersTable {
  name: string;
  /** Encrypted. */
  body: string;
  changed_at: number;
}

/** How much of a limit that all share a gateway has, and wants; by the clock of the database. */
interface SharesTable {
  name: string;
  replica: string;
  share: number;
  wanted: number;
  until: number;
}

/** When what one process does for all was last done, by the clock of the database. */
interface ChoresTable {
  name: string;
  done_at: number;
}

/** What our authorization server remembers from one request to the next; ids are hashes. */
interface ClientStepsTable {
  id: string;
  kind: string;
  body: string;
  expires_at: number;
}

/** How often what is kept in memory by others was changed. */
interface ChangesTable {
  topic: string;
  revision: number;
}

/** A gateway that shares the database; one that was not seen for a while is gone. */
interface ReplicasTable {
  id: string;
  /** Host and port where the others reach it. */
  address: string;
  version: string;
  /** Tells whether two have the same secret, and nothing else of it. */
  key_check: string;
  /** By the clock of the database, as all times of both. */
  seen_at: number;
}

/** Which gateway runs what runs once for all, and until when nobody else may. */
interface OwnershipsTable {
  name: string;
  owner: string;
  /** Grows with each owner. */
  epoch: number;
  until: number;
}

/** A result that was too big for a model, for those who read it page by page through any gateway. */
interface KeptResultsTable {
  id: string;
  owner: string;
  body: string;
  bytes: number;
  expires_at: number;
}

interface ListingsTable {
  upstream: string;
  /** Of the upstream's config, so that a changed entry discards its own listing only. */
  fingerprint: string;
  listed_at: number;
  body: string;
}

interface ErasTable {
  fingerprint: string;
  era: string;
  protocol: string;
  decided_at: number;
}

interface SignInsTable {
  upstream: string;
  /** Empty for the sign-in that all callers share. */
  caller: string;
  issuer: string;
  /** Encrypted. */
  body: string;
  saved_at: number;
}

interface OauthClientsTable {
  issuer: string;
  upstream: string;
  /** Encrypted. */
  body: string;
  saved_at: number;
}

interface SignInNotesTable {
  upstream: string;
  caller: string;
  body: string;
  noted_at: number;
}

/** A key that a caller over HTTP shows. */
interface CallerKeysTable {
  /** The part of the key that is no secret. */
  id: string;
  name: string;
  hash: string;
  /** What its caller may, as JSON. */
  body: string;
  created_at: number;
  expires_at: number | null;
  used_at: number | null;
}

/** A client that registered itself with our authorization server. */
interface ClientRegistrationsTable {
  id: string;
  body: string;
  created_at: number;
  /** When somebody last agreed to it. */
  agreed_at: number | null;
}

/** That the owner of a key agreed to a client. Tokens that descend from each other have one. */
interface ClientGrantsTable {
  id: string;
  client: string;
  key_id: string;
  /** Path that the tokens are for; empty for everything. */
  resource: string;
  created_at: number;
}

interface ClientTokensTable {
  id: string;
  kind: 'access' | 'refresh';
  grant_id: string;
  hash: string;
  expires_at: number;
  /** When a refresh token was exchanged for the next. */
  spent_at: number | null;
}

interface LeasesTable {
  name: string;
  owner: string;
  until: number;
}

/** What clients were sent on one day to know the tools. */
interface MenuTokensTable {
  day: string;
  whole: number;
  menu: number;
  search: number;
  lists: number;
  searches: number;
}

/** What a person, or the rule that a person chose, said about one definition. */
interface ApprovalsTable {
  upstream: string;
  kind: string;
  /** The upstream's own; empty for the server itself and for its words. */
  name: string;
  state: string;
  fingerprint: string;
  definition: string;
  decided_at: number;
  decided_by: string;
}
