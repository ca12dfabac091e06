/** Where the database is: a file in the state folder, unless there is a server. */
export interface StorePlace {
  readonly stateDir: string;
  readonly server?: PostgresServer | undefined;
}

/** A PostgreSQL database. The address is revealed: keep it out of logs and errors. */
export interface PostgresServer {
  readonly url: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
}
