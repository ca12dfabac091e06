import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { isJsonObject } from '../../model/json.ts';
import { expiryOf, hashOf, MAX_SESSIONS, MAX_TICKETS, NOTE_EVERY_MS, TICKET_MS } from './session-life.ts';
import type { FoundSession, OpenedSession, SessionLife, SignedInBrowsers, Ticket } from './session-life.ts';

interface Kept extends SessionLife {
  usedAt: number;
}

interface SessionOptions {
  /** Only hashes are in it. */
  readonly file: string;
  readonly now: () => number;
  readonly onProblem: (error: unknown) => void;
}

/** The browsers that are signed in to the dashboard of one gateway, and the links that sign one in. Sessions survive a restart, links do not. */
export class BrowserSessions implements SignedInBrowsers {
  readonly #options: SessionOptions;
  readonly #tickets = new Map<string, number>();
  readonly #sessions: Map<string, Kept>;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#sessions = new Map(readKept(options.file).map((kept) => [kept.hash, kept]));
  }

  ticket(): Ticket {
    const text = randomBytes(32).toString('base64url');
    const expiresAt = this.#options.now() + TICKET_MS;
    const [oldest] = this.#tickets.keys();
    if (this.#tickets.size >= MAX_TICKETS && oldest !== undefined) this.#tickets.delete(oldest);
    this.#tickets.set(hashOf(text), expiresAt);
    return { text, expiresAt };
  }

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

  find(token: string): FoundSession | undefined {
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
