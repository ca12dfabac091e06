import type { Database } from '../../core/storage/database.ts';
import type { Tables } from '../../core/storage/tables.ts';
import { EVENT_KINDS } from './audit-record.ts';
import type { BulkStatement } from './bulk-statements.ts';
import type { RecordGroup } from './finalize-drafts.ts';
import { latencyBucket, latencyQuantile } from './latency-histogram.ts';

/** Statistics of the calls of one entry since the first record. */
export interface ToolStats {
  readonly server: string;
  readonly entry: string;
  readonly kind: string;
  readonly calls: number;
  /** Calls that ended neither with success nor with a refusal: errors of the tool, failures, and cancelled calls. */
  readonly errors: number;
  /** Calls that the gateway refused; they say nothing about the server. */
  readonly refused: number;
  /** When the last call started, in milliseconds since the epoch. */
  readonly lastAt: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** Quantiles of the duration in milliseconds, for calls that were not refused. Estimated from a histogram: up to 10 % off. */
  readonly p50?: number | undefined;
  readonly p95?: number | undefined;
  readonly p99?: number | undefined;
}

type Counts = Tables['tool_stats'];
type MutableCounts = { -readonly [K in keyof Counts]: Counts[K] };
/** Calls per latency bucket. */
type Histogram = Map<number, number>;

const EVENTS: ReadonlySet<string> = new Set(EVENT_KINDS);

const NO_CALLS = {
  calls: 0,
  errors: 0,
  refused: 0,
  last_at: 0,
  bytes_in: 0,
  bytes_out: 0,
  tokens_in: 0,
  tokens_out: 0,
};

/** The columns to which a batch adds. */
const SUM_COLUMNS = [
  'calls',
  'errors',
  'refused',
  'bytes_in',
  'bytes_out',
  'tokens_in',
  'tokens_out',
] as const;

/** Builds the statements that add a batch to the statistics per entry. Other processes may add at the same time. */
export function buildStatsStatements(groups: readonly RecordGroup[]): readonly BulkStatement[] {
  const countsByKey = new Map<string, MutableCounts>();
  const histograms = new Map<string, Histogram>();
  for (const group of groups) {
    const { server, entry, kind } = group.common;
    // Statistics are per server and entry; events and requests for unknown names have none.
    if (server === undefined || entry === undefined || EVENTS.has(kind)) continue;
    const key = JSON.stringify([server, entry, kind]);
    const counts = countsByKey.get(key) ?? { server, entry, kind, ...NO_CALLS };
    const histogram = histograms.get(key) ?? new Map<number, number>();
    countsByKey.set(key, counts);
    histograms.set(key, histogram);
    addGroup(group, counts, histogram);
  }
  const latencyRows = [...countsByKey].flatMap(([key, { server, entry, kind }]) =>
    [...(histograms.get(key) ?? [])].map(([bucket, calls]) =>
      JSON.stringify([server, entry, kind, bucket, calls]),
    ),
  );
  return [
    { name: 'counts', text: addCountsSql, rows: [...countsByKey.values()].map(formatCountsRow) },
    { name: 'latency', text: addLatencySql, rows: latencyRows },
  ];
}

function addGroup({ common, records }: RecordGroup, counts: MutableCounts, histogram: Histogram): void {
  const { outcome } = common;
  counts.calls += records.length;
  if (outcome !== 'ok') counts.errors += records.length;
  if (outcome === 'refused') counts.refused += records.length;
  for (const { at, ms, bytesIn = 0, bytesOut = 0, tokensIn = 0, tokensOut = 0 } of records) {
    counts.last_at = Math.max(counts.last_at, at);
    counts.bytes_in += bytesIn;
    counts.bytes_out += bytesOut;
    counts.tokens_in += tokensIn;
    counts.tokens_out += tokensOut;
    if (outcome === 'refused' || ms === undefined) continue;
    const bucket = latencyBucket(ms);
    histogram.set(bucket, (histogram.get(bucket) ?? 0) + 1);
  }
}

/** Returns the SQL that adds counts. Without `where true`, SQLite would read `on conflict` as the condition of a join. */
function addCountsSql(rows: string): string {
  const numberColumns = ['last_at', ...SUM_COLUMNS];
  const values = numberColumns.map((_, index) => `cast(value->>${index + 3} as bigint)`);
  const updates = SUM_COLUMNS.map((column) => `${column} = tool_stats.${column} + excluded.${column}`);
  return `insert into tool_stats (server, entry, kind, ${numberColumns.join(', ')})
    select value->>0, value->>1, value->>2, ${values.join(', ')} from ${rows} where true
    on conflict (server, entry, kind) do update set ${updates.join(', ')},
    last_at = case when excluded.last_at > tool_stats.last_at then excluded.last_at else tool_stats.last_at end`;
}

function formatCountsRow({ server, entry, kind, last_at, ...counts }: Counts): string {
  return JSON.stringify([server, entry, kind, last_at, ...SUM_COLUMNS.map((column) => counts[column])]);
}

function addLatencySql(rows: string): string {
  return `insert into tool_latency (server, entry, kind, bucket, calls)
    select value->>0, value->>1, value->>2, cast(value->>3 as bigint), cast(value->>4 as bigint) from ${rows} where true
    on conflict (server, entry, kind, bucket) do update set calls = tool_latency.calls + excluded.calls`;
}

/** Returns the statistics of all entries, or of one server or entry, with the most calls first. */
export async function readToolStats(
  { query }: Database,
  filter: { readonly server?: string | undefined; readonly entry?: string | undefined },
): Promise<readonly ToolStats[]> {
  let countsQuery = query.selectFrom('tool_stats').selectAll().orderBy('calls', 'desc').orderBy('server');
  let latencyQuery = query.selectFrom('tool_latency').selectAll();
  if (filter.server !== undefined) {
    countsQuery = countsQuery.where('server', '=', filter.server);
    latencyQuery = latencyQuery.where('server', '=', filter.server);
  }
  if (filter.entry !== undefined) {
    countsQuery = countsQuery.where('entry', '=', filter.entry);
    latencyQuery = latencyQuery.where('entry', '=', filter.entry);
  }
  const histograms = new Map<string, Histogram>();
  for (const { server, entry, kind, bucket, calls } of await latencyQuery.execute()) {
    const key = JSON.stringify([server, entry, kind]);
    let histogram = histograms.get(key);
    if (histogram === undefined) histograms.set(key, (histogram = new Map<number, number>()));
    histogram.set(bucket, calls);
  }
  return (await countsQuery.execute()).map((row) => toToolStats(row, histograms));
}

function toToolStats(row: Counts, histograms: ReadonlyMap<string, Histogram>): ToolStats {
  const { server, entry, kind, calls, errors, refused } = row;
  const histogram = histograms.get(JSON.stringify([server, entry, kind])) ?? new Map<number, number>();
  const p50 = latencyQuantile(histogram, 0.5);
  const p95 = latencyQuantile(histogram, 0.95);
  const p99 = latencyQuantile(histogram, 0.99);
  return {
    server,
    entry,
    kind,
    calls,
    errors: errors - refused, // The column counts every outcome other than `ok`.
    refused,
    lastAt: row.last_at,
    bytesIn: row.bytes_in,
    bytesOut: row.bytes_out,
    tokensIn: row.tokens_in,
    tokensOut: row.tokens_out,
    p50,
    p95,
    p99,
  };
}
