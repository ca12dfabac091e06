/** Tables of client sessions and browser sessions. */
export interface SessionTables {
  readonly sessions: SessionsTable;
  readonly session_streams: SessionStreamsTable;
  readonly browser_sessions: BrowserSessionsTable;
  readonly browser_tickets: BrowserTicketsTable;
}

/** Settings of a legacy client's session, or the mark that it has ended. */
interface SessionsTable {
  /** The session, or `caller:` and a hash for all sessions of a caller. */
  id: string;
  body: string;
  /** A sequence number over the changes of all sessions. */
  revision: number;
  expires_at: number;
}

/** The gateway that holds a client's stream for messages outside of requests. */
interface SessionStreamsTable {
  session: string;
  replica: string;
  opened_at: number;
}

/** A browser session, valid at every gateway of the fleet. */
interface BrowserSessionsTable {
  hash: string;
  created_at: number;
  used_at: number;
}

/** A sign-in link for a browser. Times are by the clock of the database. */
interface BrowserTicketsTable {
  hash: string;
  expires_at: number;
}
