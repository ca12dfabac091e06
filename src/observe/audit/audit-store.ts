import type { Selectable, Transaction } from 'kysely';

import { claimChore } from '../../storage/chore.ts';
import type { Database } from '../../storage/database.ts';
import { preparedQuery } from '../../storage/prepared-query.ts';
import type { Tables } from '../../storage/tables.ts';
import type { AuditQuestions, AuditSettings, RawRecord } from './audit-batch.ts';
import type { AuditQuery, AuditRecord } from './audit-record.ts';
import { recordOf } from './audit-row.ts';
import { auditSeries } from './audit-series.ts';
import { chainHash } from './chain-hash.ts';
import { addDayTokens, readDayTokens } from './day-tokens.ts';
import { insertRecords } from './insert-records.ts';
import { runWithRows } from './json-rows.ts';
import type { Estimate } from './prepare-record.ts';
import { recordGroups } from './record-groups.ts';
import type { PreparedRecord } from './record-groups.ts';
import { removeOld } from './remove-old.ts';
import { addStats, readStats } from './stored-stats.ts';
import { verifyChain } from './verify-chain.ts';
import { matching } from './matching.ts';

interface StoreDeps {
  readonly database: Database;
  readonly settings: AuditSettings;
  readonly estimate: Estimate;
  readonly now: () => number;
}

const CLEAN_EVERY_MS = 60_000;

type Ends = Selectable<Tables['audit_ends']>;

function endsStatement(rows: string): string {
  const moved = ['last_seq', 'bytes', 'head', 'chained'].map((name) => `${name} = excluded.${name}`);
  return `insert into audit_ends (id, last_seq, bytes, head, chained)
    select 1, cast(value->>0 as bigint), cast(value->>1 as bigint), value->>2, cast(value->>3 as bigint) from ${rows} where true
    on conflict (id) do update set ${moved.join(', ')}`;
}

/** The record in the database: everything here takes its time, so that it runs in a thread. */
export class AuditStore {
  readonly #deps: StoreDeps;
  #cleanAt = 0;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  /** Everything or nothing of a batch is written; one that is tried again may have been written the first time. */
  async write(raw: readonly RawRecord[], { isAgain = false } = {}): Promise<void> {
    const { database, settings, estimate, now } = this.#deps;
    const batch = recordGroups(raw, { settings, estimate });
    const { groups, records } = batch;
    await database.query.transaction().execute(async (transaction) => {
      if (isAgain && (await isWritten(transaction, records[0]))) return;
      const { rows } = await transaction.executeQuery<Ends>(
        preparedQuery('read_ends', 'select * from audit_ends'),
      );
      const [ends] = rows;
      number(records, {
        lastSeq: ends?.last_seq ?? 0,
        head: ends?.head ?? '',
        isChained: settings.chain,
      });
      const { bytes, statements } = insertRecords(batch);
      const last = records.at(-1)?.own;
      const moved = [
        ...[last?.seq ?? 0, (ends?.bytes ?? 0) + bytes],
        settings.chain ? last?.hash : (ends?.head ?? undefined),
        (ends?.chained ?? 0) + (settings.chain ? records.length : 0),
      ];
      const ended = { name: 'ends', text: endsStatement, rows: [JSON.stringify(moved)] };
      const all = [...statements, ended, ...addStats(groups)];
      await runWithRows(transaction, all, database.engine);
    });
    if (now() < this.#cleanAt) return;
    this.#cleanAt = now() + CLEAN_EVERY_MS;
    // Of all who write to a server, one cleans.
    const chore = { name: 'audit', everyMs: CLEAN_EVERY_MS, now: now() };
    if (database.engine === 'postgres' && !(await claimChore(database, chore))) return;
    await removeOld(database, { before: now() - settings.keepMs, maxBytes: settings.maxBytes });
  }

  answer<Q extends keyof AuditQuestions>(
    question: Q,
    ask: AuditQuestions[Q]['ask'],
  ): Promise<AuditQuestions[Q]['answer']> {
    return this.#answers[question](ask);
  }

  readonly #answers: {
    readonly [Q in keyof AuditQuestions]: (
      ask: AuditQuestions[Q]['ask'],
    ) => Promise<AuditQuestions[Q]['answer']>;
  } = {
    query: (ask) => this.#query(ask),
    stats: (ask) => readStats(this.#deps.database, ask),
    verify: ({ expect }) => verifyChain(this.#deps.database, expect),
    series: (ask) => auditSeries(this.#deps.database, ask),
    tokens: ({ from }) => readDayTokens(this.#deps.database, from),
    addTokens: async (counts) => {
      await addDayTokens(this.#deps.database, counts);
      return null;
    },
    totals: async (filter) => {
      const { query } = this.#deps.database;
      const [counted, ends] = await Promise.all([
        matching(query.selectFrom('audit'), filter)
          .select(({ fn }) => fn.countAll<number>().as('records'))
          .executeTakeFirst(),
        query.selectFrom('audit_ends').selectAll().executeTakeFirst(),
      ]);
      const head = ends?.head ?? undefined;
      return {
        records: counted?.records ?? 0,
        bytes: ends?.bytes ?? 0,
        ...(head !== undefined && { head }),
      };
    },
  };

  async #query({ limit, order, ...filter }: AuditQuery): Promise<readonly AuditRecord[]> {
    const rows = await matching(this.#deps.database.query.selectFrom('audit'), filter)
      .selectAll()
      .orderBy('seq', order)
      .limit(limit)
      .execute();
    return rows.map(recordOf);
  }
}

/** A connection can be lost between the end of a transaction and the word of it. */
async function isWritten(
  transaction: Transaction<Tables>,
  first: PreparedRecord | undefined,
): Promise<boolean> {
  if (first === undefined) return true;
  const { at, request } = first.own;
  const found = await matching(transaction.selectFrom('audit'), { since: at, until: at + 1, request })
    .select('seq')
    .executeTakeFirst();
  return found !== undefined;
}

/** Gives records their places in the record, and in the chain where there is one. */
function number(
  records: readonly PreparedRecord[],
  from: { readonly lastSeq: number; readonly head: string; readonly isChained: boolean },
): void {
  let { lastSeq: seq, head } = from;
  for (const { group, own } of records) {
    own.seq = ++seq;
    if (from.isChained) own.hash = head = chainHash({ common: group.common, own }, head);
  }
}
