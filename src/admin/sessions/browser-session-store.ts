import { createHash } from 'node:crypto';

/** Stores the sessions of browsers that are signed in to the dashboard, in a file or in a shared database. */
export interface BrowserSessionStore {
  createTicket(): SignInTicket | Promise<SignInTicket>;
  /** Opens a session for a ticket and invalidates the ticket. Returns undefined if the ticket is unknown, used or expired. */
  redeemTicket(ticket: string): NewBrowserSession | undefined | Promise<NewBrowserSession | undefined>;
  open(): NewBrowserSession | Promise<NewBrowserSession>;
  /** Returns the session of a token and extends it. */
  find(token: string): ActiveBrowserSession | undefined | Promise<ActiveBrowserSession | undefined>;
  /** Whether a session is still valid. Does not extend the session. */
  has(id: string): boolean;
  close(id: string): void | Promise<void>;
  hasAny(): boolean | Promise<boolean>;
  /** Resolves when all changes have been written. */
  saved(): Promise<void>;
}

/** A ticket that signs one browser in, once, within five minutes. */
export interface SignInTicket {
  readonly text: string;
  readonly expiresAt: number;
}

/** A session that was just opened. Only this object contains its token; later, only the hash is known. */
export interface NewBrowserSession {
  readonly token: string;
  readonly id: string;
  readonly expiresAt: number;
}

export interface ActiveBrowserSession {
  readonly id: string;
  readonly expiresAt: number;
}

/** The stored part of a session: the hash of its token instead of the token. */
export interface StoredBrowserSession {
  readonly hash: string;
  readonly createdAt: number;
  readonly usedAt: number;
}

/** The file of the sessions in the state folder. */
export const BROWSER_SESSIONS_FILE = 'dashboard-sessions.json';

const HOUR_MS = 3_600_000;
/** A session ends after a day without use, and after thirty days in any case. */
export const BROWSER_SESSION_IDLE_MS = 24 * HOUR_MS;
export const BROWSER_SESSION_LIFETIME_MS = 30 * 24 * HOUR_MS;
export const TICKET_LIFETIME_MS = 5 * 60_000;
export const MAX_BROWSER_SESSIONS = 32;
export const MAX_TICKETS = 32;
/** Minimum interval between writes of `usedAt`. */
export const USED_AT_SAVE_INTERVAL_MS = 10 * 60_000;

export function sessionExpiry({ createdAt, usedAt }: StoredBrowserSession): number {
  return Math.min(usedAt + BROWSER_SESSION_IDLE_MS, createdAt + BROWSER_SESSION_LIFETIME_MS);
}

/** Returns a plain SHA-256 hash, which is enough because tokens have 256 random bits. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
