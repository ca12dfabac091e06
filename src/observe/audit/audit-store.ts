import { CompiledQuery } from 'kysely';
import type { Transaction } from 'kysely';

import type { Database } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import type { AuditQuestions, AuditSettings, RawRecord } from './audit-batch.ts';
import { EVENT_KINDS } from './audit-record.ts';
import type { AuditQuery, AuditRecord } from './audit-record.ts';
import { COLUMNS, recordOf, valuesOf } from './audit-row.ts';
import { auditSeries } from './audit-series.ts';
import { chainHash } from './chain-hash.ts';
import { addDayTokens, readDayTokens } from './day-tokens.ts';
import { prepareRecord } from './prepare-record.ts';
import type { Estimate } from './prepare-record.ts';
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

/** Rows of one statement; SQLite takes some 32,000 values in one. */
const ROWS = 200;
/** What a row takes besides its texts. */
const ROW_BYTES = 120;
const CLEAN_EVERY_MS = 60_000;
const NAMES = [...Object.values(COLUMNS), 'size'].map((column) => `"${column}"`);
const EVENTS: ReadonlySet<string> = new Set(EVENT_KINDS);

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
    const prepared = raw.map((record) => prepareRecord(record, { settings, estimate }));
    await database.query.transaction().execute(async (transaction) => {
      if (isAgain && (await isWritten(transaction, prepared[0]))) return;
      const ends = await transaction.selectFrom('audit_ends').selectAll().executeTakeFirst();
      const chained = chainedRecords(prepared, {
        lastSeq: ends?.last_seq ?? 0,
        head: ends?.head ?? '',
        isChained: settings.chain,
      });
      const bytes = await insert(transaction, chained, database.engine);
      const last = chained.at(-1);
      const values = {
        last_seq: last?.seq ?? 0,
        bytes: (ends?.bytes ?? 0) + bytes,
        head: settings.chain ? (last?.hash ?? null) : (ends?.head ?? null),
        chained: (ends?.chained ?? 0) + (settings.chain ? chained.length : 0),
      };
      await (ends === undefined
        ? transaction
            .insertInto('audit_ends')
            .values({ id: 1, base: null, ...values })
            .execute()
        : transaction.updateTable('audit_ends').set(values).execute());
      await addStats(
        transaction,
        chained.filter(({ kind }) => !EVENTS.has(kind)),
      );
    });
    if (now() < this.#cleanAt) return;
    this.#cleanAt = now() + CLEAN_EVERY_MS;
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
  first: Pick<AuditRecord, 'at' | 'request'> | undefined,
): Promise<boolean> {
  if (first === undefined) return true;
  const found = await transaction
    .selectFrom('audit')
    .select('seq')
    .where('at', '=', first.at)
    .where('request', '=', first.request)
    .executeTakeFirst();
  return found !== undefined;
}

function chainedRecords(
  records: readonly Omit<AuditRecord, 'seq' | 'hash'>[],
  from: { readonly lastSeq: number; readonly head: string; readonly isChained: boolean },
): readonly AuditRecord[] {
  let head = from.head;
  return records.map((record, at) => {
    const numbered = { ...record, seq: from.lastSeq + 1 + at };
    if (!from.isChained) return numbered;
    head = chainHash(numbered, head);
    return { ...numbered, hash: head };
  });
}

/** By hand, since building a statement for hundreds of rows costs more than running it. */
async function insert(
  transaction: Transaction<Tables>,
  records: readonly AuditRecord[],
  engine: Database['engine'],
): Promise<number> {
  const placeOf = (at: number): string => (engine === 'postgres' ? `$${at}` : '?');
  let bytes = 0;
  for (let from = 0; from < records.length; from += ROWS) {
    const rows = records.slice(from, from + ROWS).map((record) => {
      const values = valuesOf(record);
      const size = values.reduce<number>(
        (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
        ROW_BYTES,
      );
      bytes += size;
      return [...values, size];
    });
    const places = rows.map(
      (_, row) => `(${NAMES.map((__, at) => placeOf(row * NAMES.length + at + 1)).join(',')})`,
    );
    const text = `insert into audit (${NAMES.join(',')}) values ${places.join(',')}`;
    await transaction.executeQuery(CompiledQuery.raw(text, rows.flat()));
  }
  return bytes;
}
