import { CompiledQuery } from 'kysely';

/**
 * A statement by hand that is run again and again. PostgreSQL keeps it under its name, and reads it once for each connection: a third of
 * what a batch of the record costs there.
 */
export interface PreparedQuery extends CompiledQuery {
  readonly statement: string;
}

/** The same name must always have the same text. */
export function preparedQuery(statement: string, text: string, values: unknown[] = []): PreparedQuery {
  return { ...CompiledQuery.raw(text, values), statement };
}
