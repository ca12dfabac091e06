import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { isJsonObject } from '../../model/json.ts';

interface Kept {
  readonly hash: string;
  readonly createdAt: number;
  usedAt: number;
}

/** A session that was just opened: the only time its token is known. */
export interface OpenedSession {
  readonly token: string;
  readonly id: string;
  readonly expiresAt: number;
}

interface SessionOptions {
  /** Only hashes are in it. */
  readonly file: string;
  readonly now: () => number;
  readonly onProblem: (error: unknown) => void;
}

const HOUR_MS = 3_600_000;
/** How long a session may be unused, and how long it may last however it is used. */
const IDLE_MS = 24 * HOUR_MS;
const LIFE_MS = 30 * 24 * HOUR_MS;
const TICKET_MS = 5 * 60_000;
const MAX_SESSIONS = 32;
const MAX_TICKETS = 32;
/** Use is written down at most so often. */
const NOTE_EVERY_MS = 10 * 60_000;

/** The browsers that are signed in to the dashboard, and the links that sign one in. Sessions survive a restart, links do not. */
export class BrowserSessions {
  readonly #options: SessionOptions;
  readonly #tickets = new Map<string, number>();
  readonly #sessions: Map<string, Kept>;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#sessions = new Map(readKept(options.file).map((kept) => [kept.hash, kept]));
  }

  /** Good for one browser, once and soon. */
  ticket(): { readonly text: string; readonly expiresAt: number } {
    const text = randomBytes(32).toString('base64url');
    const expiresAt = this.#options.now() + TICKET_MS;
    const [oldest] = this.#tickets.keys();
    if (this.#tickets.size >= MAX_TICKETS && oldest !== undefined) this.#tickets.delete(oldest);
    this.#tickets.set(hashOf(text), expiresAt);
    return { text, expiresAt };
  }

  /** Undefined when the ticket is unknown, used or too old; it is used up in any case. */
  enter(ticket: string): OpenedSession | undefined {
    const hash = hashOf(ticket);
    const expiresAt = this.#tickets.get(hash);
    this.#tickets.delete(hash);
    return expiresAt === undefined || expiresAt <= this.#options.now() ? undefined : this.open();
  }

  open(): OpenedSession {
    this.#sweep();
    const token = randomBytes(32).toString('base64url');
    const now = this.#options.now();
    const kept: Kept = { hash: hashOf(token), createdAt: now, usedAt: now };
    const unused = [...this.#sessions.values()].toSorted((a, b) => a.usedAt - b.usedAt)[0];
    if (this.#sessions.size >= MAX_SESSIONS && unused !== undefined) this.#sessions.delete(unused.hash);
    this.#sessions.set(kept.hash, kept);
    this.#save();
    return { token, id: kept.hash, expiresAt: expiryOf(kept) };
  }

  /** The session that a browser shows, which lasts longer by being used. */
  find(token: string): { readonly id: string; readonly expiresAt: number } | undefined {
    const kept = this.#sessions.get(hashOf(token));
    if (kept === undefined) return undefined;
    const now = this.#options.now();
    if (expiryOf(kept) <= now) {
      this.close(kept.hash);
      return undefined;
    }
    const isNews = now - kept.usedAt > NOTE_EVERY_MS;
    if (isNews) {
      kept.usedAt = now;
      this.#save();
    }
    return { id: kept.hash, expiresAt: expiryOf(kept) };
  }

  get isAny(): boolean {
    this.#sweep();
    return this.#sessions.size > 0;
  }

  /** Whether it lasts still; asking is no use of it. */
  has(id: string): boolean {
    const kept = this.#sessions.get(id);
    return kept !== undefined && expiryOf(kept) > this.#options.now();
  }

  close(id: string): void {
    if (this.#sessions.delete(id)) this.#save();
  }

  /** Resolves when everything is in the file. */
  saved(): Promise<void> {
    return this.#writing;
  }

  #sweep(): void {
    const now = this.#options.now();
    for (const kept of this.#sessions.values()) if (expiryOf(kept) <= now) this.#sessions.delete(kept.hash);
  }

  #save(): void {
    const { file, onProblem } = this.#options;
    this.#writing = this.#writing
      .then(() => writeFileAtomic(file, `${JSON.stringify([...this.#sessions.values()])}\n`, 0o600))
      // Best effort: who is signed in stays so until the gateway ends.
      .catch(onProblem);
  }
}

function expiryOf({ createdAt, usedAt }: Kept): number {
  return Math.min(usedAt + IDLE_MS, createdAt + LIFE_MS);
}

/** Tokens are random enough that nobody finds one for a hash. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function readKept(file: string): readonly Kept[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return []; // Not there yet, or not whole: everybody signs in again.
  }
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_SESSIONS).flatMap((each: unknown) => {
    const { hash, createdAt, usedAt } = isJsonObject(each) ? each : {};
    const isWhole = typeof hash === 'string' && typeof createdAt === 'number' && typeof usedAt === 'number';
    return isWhole ? [{ hash, createdAt, usedAt }] : [];
  });
}
