import type { Database } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import { EVENT_KINDS } from './audit-record.ts';
import type { RowStatement } from './json-rows.ts';
import type { RecordGroup } from './record-groups.ts';
import { bucketOf, quantile } from './tool-stats.ts';
import type { ToolStats } from './tool-stats.ts';

type Counts = Tables['tool_stats'];

const EVENTS: ReadonlySet<string> = new Set(EVENT_KINDS);

/** How a batch is added to what is counted per entry; other processes may count at the same time. */
export function addStats(groups: readonly RecordGroup[]): readonly RowStatement[] {
  const counts = new Map<string, { -readonly [K in keyof Counts]: Counts[K] }>();
  const latency = new Map<string, Map<number, number>>();
  for (const { common, records } of groups) {
    const { server, entry, kind, outcome } = common;
    // What no server has is nobody's statistics.
    if (server === undefined || entry === undefined || EVENTS.has(kind)) continue;
    const key = JSON.stringify([server, entry, kind]);
    const own = counts.get(key) ?? { server, entry, kind, ...NONE };
    const histogram = latency.get(key) ?? new Map<number, number>();
    counts.set(key, own);
    latency.set(key, histogram);
    own.calls += records.length;
    if (outcome !== 'ok') own.errors += records.length;
    if (outcome === 'refused') own.refused += records.length;
    for (const { at, ms, bytesIn = 0, bytesOut = 0, tokensIn = 0, tokensOut = 0 } of records) {
      own.last_at = Math.max(own.last_at, at);
      own.bytes_in += bytesIn;
      own.bytes_out += bytesOut;
      own.tokens_in += tokensIn;
      own.tokens_out += tokensOut;
      if (outcome === 'refused' || ms === undefined) continue;
      const bucket = bucketOf(ms);
      histogram.set(bucket, (histogram.get(bucket) ?? 0) + 1);
    }
  }
  const buckets = [...counts].flatMap(([key, { server, entry, kind }]) =>
    [...(latency.get(key) ?? [])].map(([bucket, calls]) =>
      JSON.stringify([server, entry, kind, bucket, calls]),
    ),
  );
  return [
    { name: 'counts', text: countsStatement, rows: [...counts.values()].map(countsRow) },
    { name: 'latency', text: latencyStatement, rows: buckets },
  ];
}

const NONE = {
  ...{ calls: 0, errors: 0, refused: 0, last_at: 0 },
  ...{ bytes_in: 0, bytes_out: 0, tokens_in: 0, tokens_out: 0 },
};

const SUMS = [
  ...(['calls', 'errors', 'refused'] as const),
  ...(['bytes_in', 'bytes_out', 'tokens_in', 'tokens_out'] as const),
];

function countsRow({ server, entry, kind, last_at, ...counts }: Counts): string {
  return JSON.stringify([server, entry, kind, last_at, ...SUMS.map((name) => counts[name])]);
}

/** `where true`, without which SQLite takes the `on` for one of a join. */
function countsStatement(rows: string): string {
  const numbers = ['last_at', ...SUMS];
  const values = numbers.map((_, at) => `cast(value->>${at + 3} as bigint)`);
  const added = SUMS.map((name) => `${name} = tool_stats.${name} + excluded.${name}`);
  return `insert into tool_stats (server, entry, kind, ${numbers.join(', ')})
    select value->>0, value->>1, value->>2, ${values.join(', ')} from ${rows} where true
    on conflict (server, entry, kind) do update set ${added.join(', ')},
    last_at = case when excluded.last_at > tool_stats.last_at then excluded.last_at else tool_stats.last_at end`;
}

function latencyStatement(rows: string): string {
  return `insert into tool_latency (server, entry, kind, bucket, calls)
    select value->>0, value->>1, value->>2, cast(value->>3 as bigint), cast(value->>4 as bigint) from ${rows} where true
    on conflict (server, entry, kind, bucket) do update set calls = tool_latency.calls + excluded.calls`;
}

export async function readStats(
  { query }: Database,
  { server, entry }: { readonly server?: string; readonly entry?: string },
): Promise<readonly ToolStats[]> {
  let counts = query.selectFrom('tool_stats').selectAll().orderBy('calls', 'desc').orderBy('server');
  let latency = query.selectFrom('tool_latency').selectAll();
  if (server !== undefined) {
    counts = counts.where('server', '=', server);
    latency = latency.where('server', '=', server);
  }
  if (entry !== undefined) {
    counts = counts.where('entry', '=', entry);
    latency = latency.where('entry', '=', entry);
  }
  const histograms = new Map<string, Map<number, number>>();
  for (const { server: of, entry: name, kind, bucket, calls } of await latency.execute()) {
    const key = JSON.stringify([of, name, kind]);
    let own = histograms.get(key);
    if (own === undefined) histograms.set(key, (own = new Map<number, number>()));
    own.set(bucket, calls);
  }
  return (await counts.execute()).map((row) => statsOf(row, histograms));
}

function statsOf(row: Counts, histograms: ReadonlyMap<string, ReadonlyMap<number, number>>): ToolStats {
  const { server, entry, kind, calls, errors, refused } = row;
  const histogram = histograms.get(JSON.stringify([server, entry, kind])) ?? new Map<number, number>();
  const quantiles = { p50: 0.5, p95: 0.95, p99: 0.99 };
  return {
    // What is counted as an error there is whatever did not end well.
    ...{ server, entry, kind, calls, errors: errors - refused, refused, lastAt: row.last_at },
    ...{ bytesIn: row.bytes_in, bytesOut: row.bytes_out },
    ...{ tokensIn: row.tokens_in, tokensOut: row.tokens_out },
    ...Object.fromEntries(
      Object.entries(quantiles).flatMap(([name, part]) => {
        const ms = quantile(histogram, part);
        return ms === undefined ? [] : [[name, ms]];
      }),
    ),
  };
}
