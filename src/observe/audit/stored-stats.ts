import { sql } from 'kysely';
import type { Transaction } from 'kysely';

import type { Database } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import { EVENT_KINDS } from './audit-record.ts';
import type { RecordGroup } from './record-groups.ts';
import { bucketOf, quantile } from './tool-stats.ts';
import type { ToolStats } from './tool-stats.ts';

type Counts = Tables['tool_stats'];

const ROWS = 500;
const EVENTS: ReadonlySet<string> = new Set(EVENT_KINDS);

/** Adds a batch to what is counted per entry; other processes may count at the same time. */
export async function addStats(
  transaction: Transaction<Tables>,
  groups: readonly RecordGroup[],
): Promise<void> {
  const counts = new Map<string, { -readonly [K in keyof Counts]: Counts[K] }>();
  const latency = new Map<string, Tables['tool_latency']>();
  for (const { common, records } of groups) {
    const { server, entry, kind, outcome } = common;
    // What no server has is nobody's statistics.
    if (server === undefined || entry === undefined || EVENTS.has(kind)) continue;
    const key = JSON.stringify([server, entry, kind]);
    const own = counts.get(key) ?? { server, entry, kind, ...NONE };
    counts.set(key, own);
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
      const place = `${key}${bucket}`;
      const same = latency.get(place);
      if (same === undefined) latency.set(place, { server, entry, kind, bucket, calls: 1 });
      else same.calls++;
    }
  }
  for (const rows of portions([...counts.values()])) await addCounts(transaction, rows);
  for (const rows of portions([...latency.values()]))
    await transaction
      .insertInto('tool_latency')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['server', 'entry', 'kind', 'bucket'])
          .doUpdateSet({ calls: sql`tool_latency.calls + excluded.calls` }),
      )
      .execute();
}

/** As many rows as one statement takes: building a statement costs more than running it. */
function portions<T>(rows: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(rows.length / ROWS) }, (_, at) =>
    rows.slice(at * ROWS, (at + 1) * ROWS),
  );
}

const NONE = {
  ...{ calls: 0, errors: 0, refused: 0, last_at: 0 },
  ...{ bytes_in: 0, bytes_out: 0, tokens_in: 0, tokens_out: 0 },
};

async function addCounts(transaction: Transaction<Tables>, rows: readonly Counts[]): Promise<void> {
  const added = (name: string) =>
    sql<number>`${sql.ref(`tool_stats.${name}`)} + ${sql.ref(`excluded.${name}`)}`;
  await transaction
    .insertInto('tool_stats')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['server', 'entry', 'kind']).doUpdateSet({
        calls: added('calls'),
        errors: added('errors'),
        refused: added('refused'),
        bytes_in: added('bytes_in'),
        bytes_out: added('bytes_out'),
        tokens_in: added('tokens_in'),
        tokens_out: added('tokens_out'),
        last_at: sql`case when excluded.last_at > tool_stats.last_at then excluded.last_at else tool_stats.last_at end`,
      }),
    )
    .execute();
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
