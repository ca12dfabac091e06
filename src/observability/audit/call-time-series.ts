import { sql } from 'kysely';

import type { ErrorCode } from '../../core/errors.ts';
import type { Database } from '../../core/storage/database.ts';
import { EVENT_KINDS } from './audit-record.ts';
import type { AuditConditions } from './audit-record.ts';
import { filterRecords, whereStartedBefore, whereStartedSince } from './filter-records.ts';
import { BUCKET_GROWTH, MIN_BUCKET_MS, latencyQuantile } from './latency-histogram.ts';

export interface CallTimeSeriesQuery extends AuditConditions {
  /** The first millisecond of the series, since the epoch. */
  readonly from: number;
  /** The end of the series, exclusive. */
  readonly to: number;
  /** The length of an interval in milliseconds. */
  readonly bucket: number;
  readonly isByServer: boolean;
}

/** Calls over time. Every list has one element per interval. */
export interface CallTimeSeries {
  readonly server?: string | undefined;
  readonly calls: readonly number[];
  /** Calls that did not succeed, except refused calls, which say nothing about the server. */
  readonly errors: readonly number[];
  /** Quantiles of the duration in milliseconds, estimated like those of `ToolStats`; null if no call reached a server. */
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
}

/** Calls of one interval, server and latency bucket. */
interface CountRow {
  readonly interval: number;
  readonly server: string | null;
  /** The bucket of the latency histogram; null for calls that never reached a server. */
  readonly latency: number | null;
  readonly calls: number;
  readonly errors: number;
}

const MAX_SERVERS = 50;
/** Calls with these codes ended before anything was sent: they are errors of the server, but have no duration. */
const UNSENT_CODES: readonly ErrorCode[] = ['UPSTREAM_UNAVAILABLE', 'UPSTREAM_NEEDS_AUTH', 'SECRET_MISSING'];

/**
 * Counts calls over time. The database does the counting, so only a few numbers are read, however many
 * records there are.
 */
export async function readCallTimeSeries(
  { query }: Database,
  params: CallTimeSeriesQuery,
): Promise<readonly CallTimeSeries[]> {
  const { from, to, bucket, isByServer, ...filter } = params;
  const interval = sql<number>`cast((at - ${from}) / ${bucket} as integer)`;
  // The same formula as `latencyBucket`, but without a last bucket.
  const latency = sql<
    number | null
  >`case when ms is null or outcome = 'refused' or code in (${sql.join(UNSENT_CODES)}) then null
    when ms <= ${MIN_BUCKET_MS} then 0 else cast(ceil(ln(ms / ${MIN_BUCKET_MS}) / ${Math.log(BUCKET_GROWTH)}) as integer) end`;
  const records = whereStartedBefore(
    whereStartedSince(filterRecords(query.selectFrom('audit'), filter), from),
    to,
  );
  const rows: readonly CountRow[] = await records
    .where('kind', 'not in', EVENT_KINDS)
    .select([
      interval.as('interval'),
      (isByServer ? sql<string | null>`server` : sql<null>`null`).as('server'),
      latency.as('latency'),
      sql<number>`count(*)`.as('calls'),
      sql<number>`sum(case when outcome in ('ok', 'refused') then 0 else 1 end)`.as('errors'),
    ])
    // Columns are given by position: a repeated expression would have its own parameters and count as a different expression.
    .groupBy(sql`1, 2, 3`)
    .execute();
  return groupByServer(rows, { intervals: Math.ceil((to - from) / bucket), isByServer });
}

function groupByServer(
  rows: readonly CountRow[],
  { intervals, isByServer }: { readonly intervals: number; readonly isByServer: boolean },
): readonly CallTimeSeries[] {
  const groups = new Map<string | null, CountRow[]>(isByServer ? [] : [[null, []]]);
  for (const row of rows) {
    // Calls of unknown names belong to no server.
    if (isByServer && row.server === null) continue;
    const group = groups.get(row.server);
    if (group === undefined) groups.set(row.server, [row]);
    else group.push(row);
  }
  return [...groups]
    .map(([server, group]) => ({ ...toTimeSeries(group, intervals), server: server ?? undefined }))
    .toSorted((a, b) => sumOf(b.calls) - sumOf(a.calls))
    .slice(0, MAX_SERVERS);
}

function toTimeSeries(rows: readonly CountRow[], intervals: number): CallTimeSeries {
  const calls = Array.from({ length: intervals }, () => 0);
  const errors = Array.from({ length: intervals }, () => 0);
  const histograms = Array.from({ length: intervals }, () => new Map<number, number>());
  for (const row of rows) {
    const { interval, latency } = row;
    calls[interval] = (calls[interval] ?? 0) + row.calls;
    errors[interval] = (errors[interval] ?? 0) + row.errors;
    const histogram = histograms[interval];
    if (latency !== null) histogram?.set(latency, (histogram.get(latency) ?? 0) + row.calls);
  }
  const quantiles = (fraction: number): readonly (number | null)[] =>
    histograms.map((histogram) => latencyQuantile(histogram, fraction) ?? null);
  return { calls, errors, p50: quantiles(0.5), p95: quantiles(0.95) };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
