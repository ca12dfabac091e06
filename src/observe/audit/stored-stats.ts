import { sql } from 'kysely';
import type { Transaction } from 'kysely';

import type { Database } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import type { AuditRecord } from './audit-record.ts';
import { bucketOf, quantile } from './tool-stats.ts';
import type { ToolStats } from './tool-stats.ts';

type Counts = Tables['tool_stats'];

/** Adds a batch to what is counted per entry; other processes may count at the same time. */
export async function addStats(
  transaction: Transaction<Tables>,
  records: readonly AuditRecord[],
): Promise<void> {
  const counts = new Map<string, { -readonly [K in keyof Counts]: Counts[K] }>();
  const latency = new Map<string, Tables['tool_latency']>();
  for (const record of records) {
    const { server, entry, kind, outcome, at, ms } = record;
    // What no server has is nobody's statistics.
    if (server === undefined || entry === undefined) continue;
    const key = JSON.stringify([server, entry, kind]);
    let own = counts.get(key);
    if (own === undefined) {
      own = { server, entry, kind, ...NONE };
      counts.set(key, own);
    }
    own.calls++;
    if (outcome !== 'ok') own.errors++;
    if (outcome === 'refused') own.refused++;
    own.last_at = Math.max(own.last_at, at);
    own.bytes_in += record.bytesIn ?? 0;
    own.bytes_out += record.bytesOut ?? 0;
    own.tokens_in += record.tokensIn ?? 0;
    own.tokens_out += record.tokensOut ?? 0;
    if (outcome === 'refused' || ms === undefined) continue;
    const bucket = bucketOf(ms);
    const place = `${key}${bucket}`;
    const same = latency.get(place);
    if (same === undefined) latency.set(place, { server, entry, kind, bucket, calls: 1 });
    else same.calls++;
  }
  for (const values of counts.values()) await addCounts(transaction, values);
  for (const values of latency.values())
    await transaction
      .insertInto('tool_latency')
      .values(values)
      .onConflict((conflict) =>
        conflict
          .columns(['server', 'entry', 'kind', 'bucket'])
          .doUpdateSet({ calls: sql`tool_latency.calls + excluded.calls` }),
      )
      .execute();
}

const NONE = {
  ...{ calls: 0, errors: 0, refused: 0, last_at: 0 },
  ...{ bytes_in: 0, bytes_out: 0, tokens_in: 0, tokens_out: 0 },
};

async function addCounts(transaction: Transaction<Tables>, values: Counts): Promise<void> {
  const added = (name: string) =>
    sql<number>`${sql.ref(`tool_stats.${name}`)} + ${sql.ref(`excluded.${name}`)}`;
  await transaction
    .insertInto('tool_stats')
    .values(values)
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
    ...{ server, entry, kind, calls, errors, refused, lastAt: row.last_at },
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
