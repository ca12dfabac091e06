/** The location of the database: a file in the state folder, or a PostgreSQL server. */
export interface StoreLocation {
  readonly stateDir: string;
  readonly server?: PostgresServer | undefined;
}

/** A PostgreSQL database. The address contains its resolved password: keep it out of logs and errors. */
export interface PostgresServer {
  readonly url: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
}
