/** Sessions, of clients and of browsers, as queries see them. */
export interface SessionTables {
  readonly sessions: SessionsTable;
  readonly session_streams: SessionStreamsTable;
  readonly browser_sessions: BrowserSessionsTable;
  readonly browser_tickets: BrowserTicketsTable;
}

/** What a client of the older protocol has set in its session, or that the session is over. */
interface SessionsTable {
  /** Of the session, or `caller:` and a hash for all that a caller had opened. */
  id: string;
  body: string;
  /** Grows with every change of any session, in the order in which they were made. */
  revision: number;
  expires_at: number;
}

/** Which gateway holds the stream on which a client hears what belongs to no request. */
interface SessionStreamsTable {
  session: string;
  replica: string;
  opened_at: number;
}

/** A browser that is signed in to the dashboard of all gateways. */
interface BrowserSessionsTable {
  hash: string;
  created_at: number;
  used_at: number;
}

/** A link that signs a browser in; by the clock of the database. */
interface BrowserTicketsTable {
  hash: string;
  expires_at: number;
}
