/** The audit log, its statistics per tool (kept longer than the records), and its chain state. */
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

/** One row for all records of a batch that have the same values in these columns. */
interface AuditCommonsTable extends AuditCommon {
  /** The numbers (`seq`) of the first and of the last of these records. */
  id: number;
  last_seq: number;
  /** The earliest and the latest start time of these records; null only in migrated rows that had no records left. */
  first_at: number | null;
  last_at: number | null;
}

interface AuditRecordsTable {
  seq: number;
  at: number;
  /** The `id` of the row in `audit_commons` with its other columns. */
  common: number;
  /** The remaining fields as a JSON array; `BODY` in `migration-steps/create-record-tables.ts` defines the order. */
  body: string;
}

/** A view that joins the two tables above; `AuditRecord` documents its columns. */
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
  /** Approximate size in bytes. */
  size: number;
  arguments: string | null;
  result: string | null;
  details: string | null;
  hash: string | null;
}

/** A single row. Every writer updates it in the transaction that adds or removes records. */
interface AuditEndsTable {
  id: number;
  /** The highest record number ever assigned. */
  last_seq: number;
  /** Total size of all kept records in bytes. */
  bytes: number;
  /** Hash of the newest chained record, even if that record was removed. */
  head: string | null;
  /** Hash of the last chained record that retention removed. */
  base: string | null;
  /** Number of chained records that are kept. */
  chained: number;
}

/** The total counts of a tool, or of an entry of another kind. */
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

/** The number of calls in one bucket of the latency histogram of an entry. */
interface ToolLatencyTable {
  server: string;
  entry: string;
  kind: string;
  bucket: number;
  calls: number;
}
