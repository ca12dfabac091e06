import type { Transaction } from 'kysely';

import type { Database } from '../../core/storage/database.ts';
import type { Tables } from '../../core/storage/tables.ts';

/** The number of records per transaction. It is small, because other writers wait for the transaction. */
const CHUNK_SIZE = 2000;
/** The maximum number of transactions per run; the next run continues. */
const MAX_CHUNKS = 500;

/**
 * Enforces the retention of the audit log: deletes the oldest records until none is older than `before` and the log has at most `maxBytes`.
 * The hash chain then starts with the oldest record that is left.
 */
export async function deleteOldRecords(
  database: Database,
  { before, maxBytes }: { readonly before: number; readonly maxBytes: number },
): Promise<void> {
  for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
    const hasMore = await database.query
      .transaction()
      .execute((transaction) => deleteChunk(transaction, { before, maxBytes }));
    if (!hasMore) return;
  }
}

/** Deletes up to `CHUNK_SIZE` records; returns whether there may be more to delete. */
async function deleteChunk(
  transaction: Transaction<Tables>,
  { before, maxBytes }: { readonly before: number; readonly maxBytes: number },
): Promise<boolean> {
  const state = await transaction.selectFrom('audit_ends').selectAll().executeTakeFirst();
  if (state === undefined) return false;
  const oldest = await transaction
    .selectFrom('audit')
    .select(['seq', 'at', 'size', 'hash'])
    .orderBy('seq')
    .limit(CHUNK_SIZE)
    .execute();
  let { bytes, base, chained } = state;
  let lastSeq: number | undefined;
  for (const { seq, at, size, hash } of oldest) {
    if (at >= before && bytes <= maxBytes) break;
    lastSeq = seq;
    bytes -= size;
    if (hash !== null) {
      // The hash of the last deleted record becomes the start of the chain.
      base = hash;
      chained--;
    }
  }
  if (lastSeq === undefined) return false;
  await transaction.deleteFrom('audit_records').where('seq', '<=', lastSeq).execute();
  await transaction
    .deleteFrom('audit_commons')
    .where('id', '<=', lastSeq)
    .where('last_seq', '<=', lastSeq)
    .execute();
  await transaction.updateTable('audit_ends').set({ bytes, base, chained }).execute();
  return lastSeq === oldest.at(-1)?.seq && oldest.length === CHUNK_SIZE;
}
