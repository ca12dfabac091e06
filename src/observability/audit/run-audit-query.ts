import type { Database } from '../../core/storage/database.ts';
import type { AuditQueries, AuditTotals } from './audit-messages.ts';
import type { AuditConditions, AuditQuery, AuditRecord } from './audit-record.ts';
import { toAuditRecord } from './audit-row.ts';
import { readCallTimeSeries } from './call-time-series.ts';
import { addDailyTokens, readDailyTokens } from './daily-tokens.ts';
import { filterRecords } from './filter-records.ts';
import { verifyChain } from './hash-chain.ts';
import { readToolStats } from './tool-stats.ts';

type QueryHandlers = {
  readonly [Q in keyof AuditQueries]: (
    database: Database,
    params: AuditQueries[Q]['params'],
  ) => Promise<AuditQueries[Q]['result']>;
};

const HANDLERS: QueryHandlers = {
  records: readRecords,
  stats: readToolStats,
  verify: (database, { expect }) => verifyChain(database, expect),
  totals: readTotals,
  series: readCallTimeSeries,
  tokens: (database, { from }) => readDailyTokens(database, from),
  addTokens: async (database, counts) => {
    await addDailyTokens(database, counts);
    return null;
  },
};

/** Answers a query from the database. Runs in the audit thread. */
export function runAuditQuery<Q extends keyof AuditQueries>(
  database: Database,
  name: Q,
  params: AuditQueries[Q]['params'],
): Promise<AuditQueries[Q]['result']> {
  return HANDLERS[name](database, params);
}

async function readRecords(
  { query }: Database,
  { limit, order, ...filter }: AuditQuery,
): Promise<readonly AuditRecord[]> {
  const rows = await filterRecords(query.selectFrom('audit'), filter)
    .selectAll()
    .orderBy('seq', order)
    .limit(limit)
    .execute();
  return rows.map(toAuditRecord);
}

async function readTotals({ query }: Database, filter: AuditConditions): Promise<AuditTotals> {
  const [count, state] = await Promise.all([
    filterRecords(query.selectFrom('audit'), filter)
      .select(({ fn }) => fn.countAll<number>().as('records'))
      .executeTakeFirst(),
    query.selectFrom('audit_ends').selectAll().executeTakeFirst(),
  ]);
  const head = state?.head ?? undefined;
  return {
    records: count?.records ?? 0,
    bytes: state?.bytes ?? 0,
    head,
  };
}
