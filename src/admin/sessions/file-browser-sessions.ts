import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFileAtomic } from '../../core/lib/write-file-atomic.ts';
import { isJsonObject } from '../../core/json.ts';
import {
  sessionExpiry,
  hashToken,
  MAX_BROWSER_SESSIONS,
  MAX_TICKETS,
  USED_AT_SAVE_INTERVAL_MS,
  TICKET_LIFETIME_MS,
} from './browser-session-store.ts';
import type {
  ActiveBrowserSession,
  NewBrowserSession,
  StoredBrowserSession,
  BrowserSessionStore,
  SignInTicket,
} from './browser-session-store.ts';

interface MutableSession extends StoredBrowserSession {
  usedAt: number;
}

interface FileSessionOptions {
  /** The file of the sessions. It contains the hashes of the tokens, never the tokens. */
  readonly file: string;
  readonly now: () => number;
  readonly onProblem: (error: unknown) => void;
}

/** Stores the sessions of a single gateway in a file. Sessions survive a restart; tickets are in memory only. */
export class FileBrowserSessions implements BrowserSessionStore {
  readonly #options: FileSessionOptions;
  readonly #tickets = new Map<string, number>();
  readonly #sessions: Map<string, MutableSession>;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: FileSessionOptions) {
    this.#options = options;
    this.#sessions = new Map(readSessions(options.file).map((session) => [session.hash, session]));
  }

  createTicket(): SignInTicket {
    const text = randomBytes(32).toString('base64url');
    const expiresAt = this.#options.now() + TICKET_LIFETIME_MS;
    const [oldest] = this.#tickets.keys();
    if (this.#tickets.size >= MAX_TICKETS && oldest !== undefined) this.#tickets.delete(oldest);
    this.#tickets.set(hashToken(text), expiresAt);
    return { text, expiresAt };
  }

  redeemTicket(ticket: string): NewBrowserSession | undefined {
    const hash = hashToken(ticket);
    const expiresAt = this.#tickets.get(hash);
    this.#tickets.delete(hash);
    return expiresAt === undefined || expiresAt <= this.#options.now() ? undefined : this.open();
  }

  open(): NewBrowserSession {
    this.#deleteExpired();
    const token = randomBytes(32).toString('base64url');
    const now = this.#options.now();
    const session: MutableSession = { hash: hashToken(token), createdAt: now, usedAt: now };
    const [leastRecent] = [...this.#sessions.values()].toSorted((a, b) => a.usedAt - b.usedAt);
    if (this.#sessions.size >= MAX_BROWSER_SESSIONS && leastRecent !== undefined)
      this.#sessions.delete(leastRecent.hash);
    this.#sessions.set(session.hash, session);
    this.#save();
    return { token, id: session.hash, expiresAt: sessionExpiry(session) };
  }

  find(token: string): ActiveBrowserSession | undefined {
    const session = this.#sessions.get(hashToken(token));
    if (session === undefined) return undefined;
    const now = this.#options.now();
    if (sessionExpiry(session) <= now) {
      this.close(session.hash);
      return undefined;
    }
    if (now - session.usedAt > USED_AT_SAVE_INTERVAL_MS) {
      session.usedAt = now;
      this.#save();
    }
    return { id: session.hash, expiresAt: sessionExpiry(session) };
  }

  hasAny(): boolean {
    this.#deleteExpired();
    return this.#sessions.size > 0;
  }

  has(id: string): boolean {
    const session = this.#sessions.get(id);
    return session !== undefined && sessionExpiry(session) > this.#options.now();
  }

  close(id: string): void {
    if (this.#sessions.delete(id)) this.#save();
  }

  /** Resolves when no write is in progress. Failed writes are reported to `onProblem`. */
  saved(): Promise<void> {
    return this.#writing;
  }

  #deleteExpired(): void {
    const now = this.#options.now();
    for (const session of this.#sessions.values())
      if (sessionExpiry(session) <= now) this.#sessions.delete(session.hash);
  }

  #save(): void {
    const { file, onProblem } = this.#options;
    this.#writing = this.#writing
      .then(() => writeFileAtomic(file, `${JSON.stringify([...this.#sessions.values()])}\n`, 0o600))
      // A failure is only reported: without the file, browsers stay signed in until the gateway stops.
      .catch(onProblem);
  }
}

function readSessions(file: string): readonly MutableSession[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return []; // The file does not exist yet or is damaged: browsers sign in again.
  }
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_BROWSER_SESSIONS).flatMap((item: unknown) => {
    const { hash, createdAt, usedAt } = isJsonObject(item) ? item : {};
    const isValid = typeof hash === 'string' && typeof createdAt === 'number' && typeof usedAt === 'number';
    return isValid ? [{ hash, createdAt, usedAt }] : [];
  });
}
