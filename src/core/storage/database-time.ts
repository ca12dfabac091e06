import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

import type { Database } from './database.ts';

/**
 * Returns an SQL expression for the time of the database, which all processes share, in milliseconds since 1970. It advances within a
 * transaction.
 */
export function databaseTime({ engine }: Pick<Database, 'engine'>): RawBuilder<number> {
  return engine === 'postgres'
    ? sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast((julianday('now') - 2440587.5) * 86400000 as integer)`;
}
