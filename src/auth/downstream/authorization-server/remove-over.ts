import type { Kysely } from 'kysely';

import type { Tables } from '../../../storage/tables.ts';

/** A grant is made a moment before its first tokens. */
const NEW_MS = 60_000;

/** Removes tokens and steps that are over, and grants of which nothing is left; `except` is one that gets new tokens now. */
export async function removeOverTokens(query: Kysely<Tables>, now: number, except = ''): Promise<void> {
  await query.deleteFrom('client_tokens').where('expires_at', '<=', now).execute();
  const inUse = query.selectFrom('client_tokens').select('grant_id');
  await query
    .deleteFrom('client_grants')
    .where('id', 'not in', inUse)
    .where('id', '!=', except)
    .where('created_at', '<', now - NEW_MS)
    .execute();
  await query.deleteFrom('client_steps').where('expires_at', '<=', now).execute();
}
