import type { AuditTables } from './audit-tables.ts';
import type { SessionTables } from './session-tables.ts';

/** The schema for queries; `migrations.ts` creates it. Times are in milliseconds since 1970. */
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
  readonly secrets: SecretsTable;
  readonly menu_tokens: MenuTokensTable;
  readonly changes: ChangesTable;
  readonly kept_results: KeptResultsTable;
  readonly result_shapes: ResultShapesTable;
  readonly task_owners: TaskOwnersTable;
  readonly replicas: ReplicasTable;
  readonly ownerships: OwnershipsTable;
}

/** A server that was added or changed at run time, for all gateways. */
interface RuntimeServersTable {
  name: string;
  /** Encrypted. */
  body: string;
  changed_at: number;
}

/** A gateway's share of a fleet-wide limit, and its demand. Times are by the clock of the database. */
interface SharesTable {
  /** The name of the limit. */
  name: string;
  replica: string;
  share: number;
  wanted: number;
  /** When the share expires, unless its gateway renews it. */
  until: number;
}

/** When a periodic chore was last done, by the clock of the database. */
interface ChoresTable {
  name: string;
  done_at: number;
}

/** State that our authorization server keeps from one request to the next. Ids are hashes. */
interface ClientStepsTable {
  id: string;
  kind: string;
  body: string;
  expires_at: number;
}

/** A counter of the changes of data that other processes cache; see `ChangeNotifier`. */
interface ChangesTable {
  topic: string;
  revision: number;
}

/** A gateway of the fleet. A gateway whose heartbeat has stopped counts as gone. */
interface ReplicasTable {
  id: string;
  /** Host and port for the other gateways. */
  address: string;
  version: string;
  /** Shows whether two gateways have the same secret, and reveals nothing about it. */
  key_check: string;
  /** Time of the last heartbeat by the clock of the database, like the times of `OwnershipsTable`. */
  seen_at: number;
}

/** The gateway that runs a fleet-wide server, and the time until which no other gateway may run it. */
interface OwnershipsTable {
  name: string;
  owner: string;
  /** The time of the claim. It is greater for each later claim of an existing row, even if the clock was set back. */
  epoch: number;
  until: number;
}

/** A result that was too long for a model, readable page by page at any gateway. */
interface KeptResultsTable {
  id: string;
  owner: string;
  body: string;
  bytes: number;
  expires_at: number;
}

/** The keys and types of the results of a tool, without values. */
interface ResultShapesTable {
  upstream: string;
  /** The server's own name of the tool. */
  tool: string;
  /** Fingerprint of the definition that the shape belongs to. */
  fingerprint: string;
  body: string;
  saved_at: number;
}

/** The caller that started a task at a server. */
interface TaskOwnersTable {
  /** A hash of the task's id, which a server can make arbitrarily long. */
  task: string;
  upstream: string;
  /** A hash of the caller's identity and permissions. */
  owner: string;
  expires_at: number;
}

/** The last known tools, prompts and resources of a server. */
interface ListingsTable {
  upstream: string;
  /** Fingerprint of the server's configuration, so that a changed entry discards only its own listing. */
  fingerprint: string;
  listed_at: number;
  body: string;
}

/** The protocol that a server with this configuration was found to speak. */
interface ErasTable {
  fingerprint: string;
  era: string;
  protocol: string;
  decided_at: number;
}

/** The tokens of a sign-in to a server. */
interface SignInsTable {
  upstream: string;
  /** Empty for the sign-in that all callers share. */
  caller: string;
  issuer: string;
  /** Encrypted. */
  body: string;
  saved_at: number;
}

/** A secret that entries refer to by its name. */
interface SecretsTable {
  name: string;
  /** Encrypted; null if the value is in the keychain of the system. */
  body: string | null;
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

/** An API key of an HTTP caller. */
interface CallerKeysTable {
  /** The public part of the key. */
  id: string;
  name: string;
  hash: string;
  /** The caller's permissions as JSON. */
  body: string;
  created_at: number;
  expires_at: number | null;
  used_at: number | null;
}

/** A client that registered with our authorization server. */
interface ClientRegistrationsTable {
  id: string;
  body: string;
  created_at: number;
  /** Time of the last consent. */
  agreed_at: number | null;
}

/** A consent of a key's owner to a client. A token and the tokens that were refreshed from it share one grant. */
interface ClientGrantsTable {
  id: string;
  client: string;
  key_id: string;
  /** Path that the tokens are valid for; empty for all. */
  resource: string;
  created_at: number;
}

interface ClientTokensTable {
  id: string;
  kind: 'access' | 'refresh';
  grant_id: string;
  hash: string;
  expires_at: number;
  /** When a refresh token was exchanged for its successor. */
  spent_at: number | null;
}

/** A lease, for an engine without leases of its own; see `withLease`. */
interface LeasesTable {
  name: string;
  /** Identifies the process and its machine. */
  owner: string;
  until: number;
}

/** The estimated tokens that tool lists and searches cost clients on one day; see `DailyTokens`. */
interface MenuTokensTable {
  day: string;
  whole: number;
  menu: number;
  search: number;
  lists: number;
  searches: number;
}

/** The decision about one definition, by a person or by the configured trust rule. */
interface ApprovalsTable {
  upstream: string;
  kind: string;
  /** The upstream's own name; empty if the kind is `server` or `words`. */
  name: string;
  state: string;
  fingerprint: string;
  definition: string;
  decided_at: number;
  decided_by: string;
}
