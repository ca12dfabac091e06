import pg from 'pg';
import type { ClientConfig } from 'pg';

import type { PostgresServer } from '../store-place.ts';

/** Numbers that PostgreSQL gives as text because they may be larger than those of JavaScript; ours are not. */
const NUMBERS: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);
/** A server that is silent for longer than it said it would be is not there. */
const SILENCE_MS = 2000;

/** How every connection is made. */
export function connectionOptions(server: PostgresServer, lockTimeoutMs: number): ClientConfig {
  const { url, connectTimeoutMs, statementTimeoutMs } = server;
  return {
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + SILENCE_MS,
    lock_timeout: Math.min(lockTimeoutMs, statementTimeoutMs),
    // Whoever dies in the middle does not hold up all others.
    idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'trunkline',
    types: {
      // The parser of `pg` has a type per kind of number; ours is one of them.
      getTypeParser: ((oid: number, format?: 'text') =>
        NUMBERS.has(oid) ? Number : (pg.types.getTypeParser(oid, format) as unknown)) as never,
    },
  };
}
