import type { Kysely } from 'kysely';

import type { Tables } from '../../../core/storage/tables.ts';

/** Age below which a grant without tokens is kept, because a grant is written shortly before its first tokens. */
const NEW_GRANT_MS = 60_000;

/** Removes expired tokens, expired flow state, and grants without tokens. Keeps `keptGrant`, which is about to get new tokens. */
export async function removeExpiredTokens(query: Kysely<Tables>, now: number, keptGrant = ''): Promise<void> {
  await query.deleteFrom('client_tokens').where('expires_at', '<=', now).execute();
  const inUse = query.selectFrom('client_tokens').select('grant_id');
  await query
    .deleteFrom('client_grants')
    .where('id', 'not in', inUse)
    .where('id', '!=', keptGrant)
    .where('created_at', '<', now - NEW_GRANT_MS)
    .execute();
  await query.deleteFrom('client_steps').where('expires_at', '<=', now).execute();
}
