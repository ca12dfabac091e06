import type { Kysely } from 'kysely';

import type { Tables } from '../../core/storage/tables.ts';

/** Time for which the id of an expired result is remembered, to tell its owner that the result existed. */
const REMEMBER_MS = 24 * 3_600_000;

/** Deletes the text of expired results at once, and their rows a day later. */
export async function removeExpiredResults(query: Kysely<Tables>, now: number): Promise<void> {
  await query
    .updateTable('kept_results')
    .set({ body: '', bytes: 0 })
    .where('expires_at', '<=', now)
    .where('bytes', '>', 0)
    .execute();
  await query
    .deleteFrom('kept_results')
    .where('expires_at', '<=', now - REMEMBER_MS)
    .execute();
}
