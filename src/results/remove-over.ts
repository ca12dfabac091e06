import type { Kysely } from 'kysely';

import type { Tables } from '../storage/tables.ts';

/** Owners are told of what is gone for so long. */
const REMEMBER_MS = 24 * 3_600_000;

/** What was not read in time goes; that it was there is forgotten later. */
export async function removeOverResults(query: Kysely<Tables>, now: number): Promise<void> {
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
