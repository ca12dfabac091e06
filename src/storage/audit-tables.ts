/** The record of operations, what it says per tool for longer than it is kept, and its ends. */
export interface AuditTables {
  readonly audit_commons: AuditCommonsTable;
  readonly audit_records: AuditRecordsTable;
  readonly audit: AuditView;
  readonly audit_ends: AuditEndsTable;
  readonly tool_stats: ToolStatsTable;
  readonly tool_latency: ToolLatencyTable;
}

interface AuditCommon {
  kind: string;
  caller: string;
  via: string;
  client: string | null;
  client_version: string | null;
  profile: string;
  server: string | null;
  entry: string | null;
  tier: string | null;
  fingerprint: string | null;
  outcome: string;
  code: string | null;
  rule: string | null;
  action: string | null;
}

/** What records that were written together have in common. */
interface AuditCommonsTable extends AuditCommon {
  /** The number of the first of these records, and of the last. */
  id: number;
  last_seq: number;
  /** When the first of them began, and the last; a column that came later may be null. */
  first_at: number | null;
  last_at: number | null;
}

interface AuditRecordsTable {
  seq: number;
  at: number;
  /** Of what it has in common with others. */
  common: number;
  /** All the rest, as a list in JSON; `BODY` of `steps/record-tables.ts` says what is where. */
  body: string;
}

/** A record as queries see it, put together of the two tables above; `AuditRecord` says what its columns mean. */
interface AuditView extends AuditCommon {
  seq: number;
  at: number;
  request: string;
  group_id: string | null;
  ms: number | null;
  bytes_in: number | null;
  bytes_out: number | null;
  tokens_in: number | null;
  tokens_out: number | null;
  digest: string | null;
  /** About how many bytes it takes. */
  size: number;
  arguments: string | null;
  result: string | null;
  details: string | null;
  hash: string | null;
}

/** One row, which every writer of the record updates in the transaction that adds or removes records. */
interface AuditEndsTable {
  id: number;
  /** The highest number ever given. */
  last_seq: number;
  /** Of all records that are kept. */
  bytes: number;
  /** Hash of the newest chained record; it stays when that record is taken away. */
  head: string | null;
  /** Hash of the last chained record that was removed because of its age. */
  base: string | null;
  /** How many chained records are kept. */
  chained: number;
}

interface ToolStatsTable {
  server: string;
  entry: string;
  kind: string;
  calls: number;
  errors: number;
  refused: number;
  last_at: number;
  bytes_in: number;
  bytes_out: number;
  tokens_in: number;
  tokens_out: number;
}

interface ToolLatencyTable {
  server: string;
  entry: string;
  kind: string;
  bucket: number;
  calls: number;
}
