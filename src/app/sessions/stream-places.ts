import type { StreamPlaces } from '../../downstream/sessions/between/others.ts';
import type { Database } from '../../storage/database.ts';

/** Rows that say which gateway holds the stream of a session. */
export function streamPlaces(deps: {
  readonly self: string;
  readonly database: () => Promise<Database>;
  readonly now: () => number;
}): StreamPlaces {
  const { self, database, now } = deps;
  return {
    async find(session) {
      const { query } = await database();
      const row = await query
        .selectFrom('session_streams')
        .select('replica')
        .where('session', '=', session)
        .executeTakeFirst();
      return row?.replica;
    },
    async note(session) {
      const { query } = await database();
      const values = { session, replica: self, opened_at: now() };
      await query
        .insertInto('session_streams')
        .values(values)
        .onConflict((conflict) => conflict.column('session').doUpdateSet(values))
        .execute();
    },
    async forget(session) {
      const { query } = await database();
      await query
        .deleteFrom('session_streams')
        .where('session', '=', session)
        .where('replica', '=', self)
        .execute();
    },
  };
}
