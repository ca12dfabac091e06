import type { Selectable, Transaction } from 'kysely';

import { claimChore } from '../../core/storage/chore.ts';
import type { Database } from '../../core/storage/database.ts';
import { prepareQuery } from '../../core/storage/prepared-query.ts';
import type { Tables } from '../../core/storage/tables.ts';
import type { AuditSettings } from './audit-messages.ts';
import { AUDIT_COLUMNS, COMMON_FIELDS } from './audit-row.ts';
import { runBulkStatements } from './bulk-statements.ts';
import type { BulkStatement } from './bulk-statements.ts';
import { deleteOldRecords } from './delete-old-records.ts';
import { filterRecords } from './filter-records.ts';
import { finalizeDrafts } from './finalize-drafts.ts';
import type {
  FinalBatch,
  FinalRecord,
  PerRecordFields,
  RecordGroup,
  TokenEstimator,
} from './finalize-drafts.ts';
import { computeChainHash } from './hash-chain.ts';
import type { CommonFields, RecordDraft } from './record-batch.ts';
import { buildStatsStatements } from './tool-stats.ts';

interface AuditWriterDeps {
  readonly database: Database;
  readonly settings: AuditSettings;
  readonly estimate: TokenEstimator;
  readonly now: () => number;
}

/**
 * The single row of `audit_ends`: the last sequence number, the size of the log and the head of the hash
 * chain.
 */
type LogState = Selectable<Tables['audit_ends']>;

const CLEANUP_INTERVAL_MS = 60_000;

/** Inserts batches of records into the database, together with their statistics. Runs in the audit thread. */
export class AuditWriter {
  readonly #deps: AuditWriterDeps;
  #nextCleanupAt = 0;

  constructor(deps: AuditWriterDeps) {
    this.#deps = deps;
  }

  /** Writes a batch in one transaction. Set `isRetry` if an earlier attempt may have been committed. */
  async write(drafts: readonly RecordDraft[], { isRetry = false } = {}): Promise<void> {
    const { database, settings, estimate } = this.#deps;
    const batch = finalizeDrafts(drafts, { settings, estimate });
    await database.query.transaction().execute(async (transaction) => {
      if (isRetry && (await isWritten(transaction, batch.records[0]))) return;
      const { rows } = await transaction.executeQuery<LogState>(
        prepareQuery('read_ends', 'select * from audit_ends'),
      );
      const [state] = rows;
      numberRecords(batch.records, state, settings.chain);
      const statements = buildInsertStatements(batch, state, settings.chain);
      await runBulkStatements(transaction, statements, database.engine);
    });
    await this.#cleanUp();
  }

  /** Deletes records that are too old or exceed the size limit, at most once a minute. */
  async #cleanUp(): Promise<void> {
    const { database, settings, now } = this.#deps;
    if (now() < this.#nextCleanupAt) return;
    this.#nextCleanupAt = now() + CLEANUP_INTERVAL_MS;
    // Several processes may share a PostgreSQL database; only one of them cleans up.
    const chore = { name: 'audit', everyMs: CLEANUP_INTERVAL_MS, now: now() };
    if (database.engine === 'postgres' && !(await claimChore(database, chore))) return;
    await deleteOldRecords(database, { before: now() - settings.keepMs, maxBytes: settings.maxBytes });
  }
}

/** Whether a batch is in the database: the connection can be lost after the commit and before its confirmation. */
async function isWritten(
  transaction: Transaction<Tables>,
  firstRecord: FinalRecord | undefined,
): Promise<boolean> {
  if (firstRecord === undefined) return true;
  const { at, request } = firstRecord.own;
  const row = await filterRecords(transaction.selectFrom('audit'), { since: at, until: at + 1, request })
    .select('seq')
    .executeTakeFirst();
  return row !== undefined;
}

/** Sets the sequence number of each record, and its hash if records are chained. */
function numberRecords(
  records: readonly FinalRecord[],
  state: LogState | undefined,
  isChained: boolean,
): void {
  let seq = state?.last_seq ?? 0;
  let head = state?.head ?? '';
  for (const { group, own } of records) {
    own.seq = ++seq;
    if (isChained) own.hash = head = computeChainHash({ common: group.common, own }, head);
  }
}

/** The approximate bytes of a row in `audit_records` and in `audit_commons`, in addition to its texts. */
const RECORD_BYTES = 60;
const COMMON_BYTES = 60;
/**
 * Row keys contain sequence numbers relative to the first record of the batch, which has this number. So all
 * numbers have six digits.
 */
const KEY_BASE = 100_000;
const KEY_DIGITS = 6;

/**
 * Builds the statements that insert numbered records: the common fields once per group, the own fields of each record as one JSON text.
 * The order matters: `records` reads the last sequence number that `ends` replaces.
 */
function buildInsertStatements(
  { groups, records }: FinalBatch,
  state: LogState | undefined,
  isChained: boolean,
): readonly BulkStatement[] {
  let addedBytes = 0;
  // A key joins the number of the record, the number of the first record of its group, and the time;
  // `insertRecordsSql` splits it.
  const keyOffset = (records[0]?.own.seq ?? 0) - KEY_BASE;
  const recordRows = records.map(({ group, own }) => {
    const [firstOfGroup = own] = group.records;
    const size = sizeOfOwnFields(own) + (firstOfGroup === own ? sizeOfCommonFields(group.common) : 0);
    addedBytes += size;
    return `"${own.seq - keyOffset}${firstOfGroup.seq - keyOffset}${own.at}":${formatBody(own, size)}`;
  });
  const last = records.at(-1)?.own;
  const stateRow = [
    last?.seq ?? 0,
    (state?.bytes ?? 0) + addedBytes,
    isChained ? last?.hash : (state?.head ?? undefined),
    (state?.chained ?? 0) + (isChained ? records.length : 0),
  ];
  return [
    { name: 'commons', text: insertCommonsSql, rows: groups.map(formatCommonRow) },
    { name: 'records', text: insertRecordsSql, rows: recordRows, areKeyed: true },
    { name: 'ends', text: updateStateSql, rows: [JSON.stringify(stateRow)] },
    ...buildStatsStatements(groups),
  ];
}

function insertCommonsSql(rows: string): string {
  const columns = COMMON_FIELDS.map((field) => AUDIT_COLUMNS[field]);
  const numberColumns = ['id', 'last_seq', 'first_at', 'last_at'];
  const values = [
    ...numberColumns.map((_, index) => `cast(value->>${index} as bigint)`),
    ...columns.map((_, index) => `value->>${index + numberColumns.length}`),
  ];
  return `insert into audit_commons (${[...numberColumns, ...columns].join(', ')}) select ${values.join(', ')} from ${rows}`;
}

/** Returns the row of a group. Its id is the number of its first record; the ranges of numbers and times serve as an index. */
function formatCommonRow({ common, records }: RecordGroup): string {
  const [first] = records;
  let firstAt = first?.at ?? 0;
  let lastAt = firstAt;
  for (const { at } of records) {
    if (at < firstAt) firstAt = at;
    if (at > lastAt) lastAt = at;
  }
  const numbers = [first?.seq, records.at(-1)?.seq, firstAt, lastAt];
  return JSON.stringify([...numbers, ...COMMON_FIELDS.map((field) => common[field])]);
}

/**
 * Returns the SQL that inserts records. The numbers and the time are in the key of a row, because extracting them from the JSON list took
 * SQLite longer than writing the row.
 */
function insertRecordsSql(rows: string): string {
  const firstSeq = 'coalesce((select last_seq from audit_ends), 0) + 1';
  const numberAt = (position: number): string =>
    `${firstSeq} + cast(substr(key, ${position}, ${KEY_DIGITS}) as bigint) - ${KEY_BASE}`;
  return `insert into audit_records (seq, at, common, body)
    select ${numberAt(1)}, cast(substr(key, ${1 + 2 * KEY_DIGITS}) as bigint), ${numberAt(1 + KEY_DIGITS)}, value from ${rows}`;
}

/** Returns the own fields as a JSON list, in the order in which the view `audit` reads them. Absent texts at the end are left out. */
function formatBody(own: PerRecordFields, size: number): string {
  const { request, group, ms, bytesIn, bytesOut, tokensIn, tokensOut, digest } = own;
  const { arguments: args, result, details, hash } = own;
  const body = [request, group, ms, bytesIn, bytesOut, tokensIn, tokensOut, digest, size];
  if ((args ?? result ?? details ?? hash) !== undefined) body.push(args, result, details, hash);
  return JSON.stringify(body);
}

/** Returns the SQL that updates the state. Without `where true`, SQLite would read `on conflict` as the condition of a join. */
function updateStateSql(rows: string): string {
  const updates = ['last_seq', 'bytes', 'head', 'chained'].map((column) => `${column} = excluded.${column}`);
  return `insert into audit_ends (id, last_seq, bytes, head, chained)
    select 1, cast(value->>0 as bigint), cast(value->>1 as bigint), value->>2, cast(value->>3 as bigint) from ${rows} where true
    on conflict (id) do update set ${updates.join(', ')}`;
}

function sizeOfOwnFields(own: PerRecordFields): number {
  const { request, group, digest, arguments: args, result, details, hash } = own;
  const idChars = request.length + (group?.length ?? 0) + (digest?.length ?? 0);
  return RECORD_BYTES + idChars + totalLength([args, result, details, hash]);
}

function sizeOfCommonFields(common: CommonFields): number {
  return COMMON_BYTES + totalLength(COMMON_FIELDS.map((field) => common[field]));
}

function totalLength(texts: readonly (string | undefined)[]): number {
  let sum = 0;
  for (const text of texts) sum += text?.length ?? 0;
  return sum;
}
