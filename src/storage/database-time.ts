import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

import type { Database } from './database.ts';

/** Milliseconds since 1970 by the clock of the database, which is one for all who share it; inside a transaction it goes on. */
export function databaseTime({ engine }: Pick<Database, 'engine'>): RawBuilder<number> {
  return engine === 'postgres'
    ? sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast((julianday('now') - 2440587.5) * 86400000 as integer)`;
}
