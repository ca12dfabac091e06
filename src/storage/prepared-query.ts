import { CompiledQuery } from 'kysely';

/**
 * A statement by hand that is run again and again within transactions, and read once for each connection under its name: otherwise reading it is a
 * third of what a batch of the record costs in PostgreSQL, and a fifth of one with a hundred records in SQLite.
 */
export interface PreparedQuery extends CompiledQuery {
  readonly statement: string;
}

/** The same name must always have the same text. */
export function preparedQuery(statement: string, text: string, values: unknown[] = []): PreparedQuery {
  return { ...CompiledQuery.raw(text, values), statement };
}
