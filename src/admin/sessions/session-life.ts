import { createHash } from 'node:crypto';

/** What is kept of a session. */
export interface SessionLife {
  readonly hash: string;
  readonly createdAt: number;
  readonly usedAt: number;
}

/** A session that was just opened: the only time its token is known. */
export interface OpenedSession {
  readonly token: string;
  readonly id: string;
  readonly expiresAt: number;
}

/** Signs one browser in, once and soon. */
export interface Ticket {
  readonly text: string;
  readonly expiresAt: number;
}

/** The browsers that are signed in, wherever that is kept. */
export interface SignedInBrowsers {
  ticket(): Ticket | Promise<Ticket>;
  /** Undefined when the ticket is unknown, used or too old; it is used up in any case. */
  enter(ticket: string): OpenedSession | undefined | Promise<OpenedSession | undefined>;
  open(): OpenedSession | Promise<OpenedSession>;
  /** The session that a browser shows, which lasts longer by being used. */
  find(token: string): FoundSession | undefined | Promise<FoundSession | undefined>;
  /** Whether it lasts still; asking is no use of it. */
  has(id: string): boolean;
  close(id: string): void | Promise<void>;
  readonly isAny: boolean | Promise<boolean>;
  /** Resolves when everything is written. */
  saved(): Promise<void>;
}

export interface FoundSession {
  readonly id: string;
  readonly expiresAt: number;
}

const HOUR_MS = 3_600_000;
/** How long a session may be unused, and how long it may last however it is used. */
export const IDLE_MS = 24 * HOUR_MS;
export const LIFE_MS = 30 * 24 * HOUR_MS;
export const TICKET_MS = 5 * 60_000;
export const MAX_SESSIONS = 32;
export const MAX_TICKETS = 32;
/** Use is written down at most so often. */
export const NOTE_EVERY_MS = 10 * 60_000;

export function expiryOf({ createdAt, usedAt }: SessionLife): number {
  return Math.min(usedAt + IDLE_MS, createdAt + LIFE_MS);
}

/** Tokens are random enough that nobody finds one for a hash. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
