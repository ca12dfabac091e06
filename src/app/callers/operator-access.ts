import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BrowserSessions } from '../../admin/sessions/browser-sessions.ts';
import type { OpenedSession } from '../../admin/sessions/browser-sessions.ts';
import { SESSIONS_FILE } from '../../admin/sessions/sessions-file.ts';
import { KeyAttempts } from '../../admin/sessions/key-attempts.ts';
import { entryPage, removeEntryPage } from '../../attach/entry-page.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Logger } from '../../observe/log.ts';

/** There are no more tickets at a time. */
const MAX_PAGES = 32;

/** How the operator gets in over TCP: a key in a file that only this user can read, new at each start, and sessions of browsers. */
export class OperatorAccess implements AsyncDisposable {
  readonly #stateDir: string;
  readonly #file: string;
  readonly #key = `tladmin_${randomBytes(32).toString('base64url')}`;
  readonly #digest = digest(this.#key);
  readonly #sessions: BrowserSessions;
  readonly #attempts: KeyAttempts;
  /** Where pages with our tickets may lie; who asked for a link has put them there. */
  readonly #pages = new Set<string>();

  private constructor(stateDir: string, { now, log }: { now: () => number; log: Logger }) {
    this.#stateDir = stateDir;
    this.#file = join(stateDir, 'run', 'admin.key');
    this.#attempts = new KeyAttempts(now);
    const file = join(stateDir, SESSIONS_FILE);
    const onProblem = (error: unknown): void =>
      log.warn('Sessions of the dashboard cannot be kept beyond this run.', { file, reason: String(error) });
    this.#sessions = new BrowserSessions({ file, now, onProblem });
  }

  static async open(
    stateDir: string,
    deps: { readonly now: () => number; readonly log: Logger },
  ): Promise<OperatorAccess> {
    const access = new OperatorAccess(stateDir, deps);
    await writeFileAtomic(access.#file, `${access.#key}\n`, 0o600);
    return access;
  }

  isKey(text: string): boolean {
    return timingSafeEqual(digest(text), this.#digest);
  }

  find(token: string): { readonly id: string; readonly expiresAt: number } | undefined {
    return this.#sessions.find(token);
  }

  isSignedIn(id: string): boolean {
    return this.#sessions.has(id);
  }

  signIn(key: string): OpenedSession {
    this.#attempts.check();
    if (this.isKey(key.trim())) return this.#sessions.open();
    this.#attempts.failed();
    throw new GatewayError(
      'CREDENTIALS_REFUSED',
      'That is not the key in run/admin.key of the state folder. It is another one after each start; `trunkline dashboard` needs none.',
    );
  }

  get hasSessions(): boolean {
    return this.#sessions.isAny;
  }

  signOut(id: string): void {
    this.#sessions.close(id);
  }

  ticket(): { readonly text: string; readonly expiresAt: number } {
    const ticket = this.#sessions.ticket();
    const [oldest] = this.#pages;
    if (this.#pages.size >= MAX_PAGES && oldest !== undefined) void this.#remove(oldest);
    this.#pages.add(entryPage(this.#stateDir, ticket.text));
    return ticket;
  }

  enter(ticket: string): OpenedSession | undefined {
    const opened = this.#sessions.enter(ticket);
    if (opened !== undefined) void this.#remove(entryPage(this.#stateDir, ticket));
    return opened;
  }

  /** When no ticket is good any more. */
  async removePages(): Promise<void> {
    await Promise.all([...this.#pages].map((page) => this.#remove(page)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.removePages();
    await this.#sessions.saved();
    // Another gateway may have put its own there.
    if (readKey(this.#file) === this.#key) rmSync(this.#file, { force: true });
  }

  async #remove(page: string): Promise<void> {
    this.#pages.delete(page);
    await removeEntryPage(page);
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function readKey(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined; // It is gone already.
  }
}
