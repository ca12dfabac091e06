import type { Transaction } from 'kysely';

import type { Database } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';

/** So many at a time, so that whoever else writes does not wait for long. */
const CHUNK = 2000;
const MAX_CHUNKS = 500;

/** Removes the oldest records: those from before a time, and as many as are too much. The chain then begins later. */
export async function removeOld(
  database: Database,
  { before, maxBytes }: { readonly before: number; readonly maxBytes: number },
): Promise<void> {
  for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
    const isMore = await database.query
      .transaction()
      .execute((transaction) => removeChunk(transaction, { before, maxBytes }));
    if (!isMore) return;
  }
}

async function removeChunk(
  transaction: Transaction<Tables>,
  { before, maxBytes }: { readonly before: number; readonly maxBytes: number },
): Promise<boolean> {
  const ends = await transaction.selectFrom('audit_ends').selectAll().executeTakeFirst();
  if (ends === undefined) return false;
  const oldest = await transaction
    .selectFrom('audit')
    .select(['seq', 'at', 'size', 'hash'])
    .orderBy('seq')
    .limit(CHUNK)
    .execute();
  let { bytes, base, chained } = ends;
  let last: number | undefined;
  for (const { seq, at, size, hash } of oldest) {
    if (at >= before && bytes <= maxBytes) break;
    last = seq;
    bytes -= size;
    if (hash !== null) {
      base = hash;
      chained--;
    }
  }
  if (last === undefined) return false;
  await transaction.deleteFrom('audit_records').where('seq', '<=', last).execute();
  await transaction
    .deleteFrom('audit_commons')
    .where('id', '<=', last)
    .where('last_seq', '<=', last)
    .execute();
  await transaction.updateTable('audit_ends').set({ bytes, base, chained }).execute();
  return last === oldest.at(-1)?.seq && oldest.length === CHUNK;
}
