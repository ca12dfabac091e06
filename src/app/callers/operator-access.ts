import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BrowserSessions } from '../../admin/sessions/browser-sessions.ts';
import type { OpenedSession } from '../../admin/sessions/browser-sessions.ts';
import { SESSIONS_FILE } from '../../admin/sessions/sessions-file.ts';
import { KeyAttempts } from '../../admin/sessions/key-attempts.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Logger } from '../../observe/log.ts';

/** How the operator gets in over TCP: a key in a file that only this user can read, new at each start, and sessions of browsers. */
export class OperatorAccess implements AsyncDisposable {
  readonly #file: string;
  readonly #key = `tladmin_${randomBytes(32).toString('base64url')}`;
  readonly #digest = digest(this.#key);
  readonly #sessions: BrowserSessions;
  readonly #attempts: KeyAttempts;

  private constructor(stateDir: string, { now, log }: { now: () => number; log: Logger }) {
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
    return this.#sessions.ticket();
  }

  enter(ticket: string): OpenedSession | undefined {
    return this.#sessions.enter(ticket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sessions.saved();
    // Another gateway may have put its own there.
    if (readKey(this.#file) === this.#key) rmSync(this.#file, { force: true });
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
