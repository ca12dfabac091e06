import { sql } from 'kysely';

import type { ErrorCode } from '../../model/errors.ts';
import type { Database } from '../../storage/database.ts';
import { EVENT_KINDS } from './audit-record.ts';
import type { AuditConditions } from './audit-record.ts';
import { begunBefore, begunSince, matching } from './matching.ts';
import { GROWTH, LEAST_MS, quantile } from './tool-stats.ts';

export interface SeriesQuery extends AuditConditions {
  readonly from: number;
  readonly to: number;
  /** Milliseconds. */
  readonly bucket: number;
  readonly isByServer: boolean;
}

/** Every list has an element per bucket. */
export interface Series {
  readonly server?: string;
  readonly calls: readonly number[];
  /** Of what was let through: a refusal of ours says nothing about a server. */
  readonly errors: readonly number[];
  /** Milliseconds, estimated like those of statistics; null where nothing reached a server. */
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
}

interface Counted {
  readonly place: number;
  readonly server: string | null;
  /** Of the histogram; null for what never reached a server. */
  readonly latency: number | null;
  readonly calls: number;
  readonly errors: number;
}

const MAX_SERVERS = 50;
/** Ended before anything was sent: the server's trouble, and no duration of a call. */
const UNREACHED: readonly ErrorCode[] = ['UPSTREAM_UNAVAILABLE', 'UPSTREAM_NEEDS_AUTH', 'SECRET_MISSING'];

/** Operations over time. The database counts, so that only a few numbers leave it however many records there are. */
export async function auditSeries({ query }: Database, asked: SeriesQuery): Promise<readonly Series[]> {
  const { from, to, bucket, isByServer, ...filter } = asked;
  const place = sql<number>`cast((at - ${from}) / ${bucket} as integer)`;
  const latency = sql<
    number | null
  >`case when ms is null or outcome = 'refused' or code in (${sql.join(UNREACHED)}) then null
    when ms <= ${LEAST_MS} then 0 else cast(ceil(ln(ms / ${LEAST_MS}) / ${Math.log(GROWTH)}) as integer) end`;
  const within = begunBefore(begunSince(matching(query.selectFrom('audit'), filter), from), to);
  const rows: readonly Counted[] = await within
    .where('kind', 'not in', EVENT_KINDS)
    .select([
      place.as('place'),
      (isByServer ? sql<string | null>`server` : sql<null>`null`).as('server'),
      latency.as('latency'),
      sql<number>`count(*)`.as('calls'),
      sql<number>`sum(case when outcome in ('ok', 'refused') then 0 else 1 end)`.as('errors'),
    ])
    // By position: the expressions have parameters, which would make each of them another one.
    .groupBy(sql`1, 2, 3`)
    .execute();
  return seriesOf(rows, { places: Math.ceil((to - from) / bucket), isByServer });
}

function seriesOf(
  rows: readonly Counted[],
  { places, isByServer }: { readonly places: number; readonly isByServer: boolean },
): readonly Series[] {
  const groups = new Map<string | null, Counted[]>(isByServer ? [] : [[null, []]]);
  for (const row of rows) {
    // What no server has is nobody's.
    if (isByServer && row.server === null) continue;
    const group = groups.get(row.server);
    if (group === undefined) groups.set(row.server, [row]);
    else group.push(row);
  }
  return [...groups]
    .map(([server, counted]) => ({ ...oneSeries(counted, places), ...(server !== null && { server }) }))
    .toSorted((a, b) => total(b.calls) - total(a.calls))
    .slice(0, MAX_SERVERS);
}

function oneSeries(rows: readonly Counted[], places: number): Series {
  const calls = Array.from({ length: places }, () => 0);
  const errors = Array.from({ length: places }, () => 0);
  const histograms = Array.from({ length: places }, () => new Map<number, number>());
  for (const { place, latency, calls: count, errors: failed } of rows) {
    calls[place] = (calls[place] ?? 0) + count;
    errors[place] = (errors[place] ?? 0) + failed;
    const histogram = histograms[place];
    if (latency !== null) histogram?.set(latency, (histogram.get(latency) ?? 0) + count);
  }
  const part = (of: number): readonly (number | null)[] =>
    histograms.map((each) => quantile(each, of) ?? null);
  return { calls, errors, p50: part(0.5), p95: part(0.95) };
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
