import pg from 'pg';
import type { ClientConfig } from 'pg';

import type { PostgresServer } from '../store-location.ts';

/** The ids of number types that `pg` returns as text by default. Our values fit into a JavaScript number. */
const NUMBERS: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);
/** The server ends a statement after the statement timeout. If it does not answer within this time after that, it counts as unreachable. */
const SILENCE_MS = 2000;

/** Returns the options of every connection. */
export function buildConnectionOptions(server: PostgresServer, lockTimeoutMs: number): ClientConfig {
  const { url, connectTimeoutMs, statementTimeoutMs } = server;
  return {
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + SILENCE_MS,
    lock_timeout: Math.min(lockTimeoutMs, statementTimeoutMs),
    // A process that dies within a transaction must not block the others.
    idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'trunkline',
    types: {
      // `pg` also declares the format `binary`, which we never request.
      getTypeParser: ((oid: number, format?: 'text') =>
        NUMBERS.has(oid) ? Number : (pg.types.getTypeParser(oid, format) as unknown)) as never,
    },
  };
}
