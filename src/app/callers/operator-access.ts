import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SESSIONS_FILE } from '../../admin/sessions/sessions-file.ts';
import { KeyAttempts } from '../../admin/sessions/key-attempts.ts';
import type {
  FoundSession,
  OpenedSession,
  SignedInBrowsers,
  Ticket,
} from '../../admin/sessions/session-life.ts';
import { entryPage, removeEntryPage } from '../../attach/entry-page.ts';
import { writeFileAtomicSync } from '../../lib/atomic-file-sync.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { Store } from '../open-store.ts';
import { AdminKey } from './admin-key.ts';
import type { KeyFleet } from './admin-key.ts';

/** There are no more tickets at a time. */
const MAX_PAGES = 32;

interface AccessDeps {
  readonly now: () => number;
  readonly log: Logger;
  readonly store: Store;
  readonly fleet: KeyFleet | undefined;
}

/** How the operator gets in over TCP: a key in a file that only this user can read, new at each start, and sessions of browsers. */
export class OperatorAccess implements AsyncDisposable {
  readonly #stateDir: string;
  readonly #file: string;
  readonly #key: AdminKey;
  readonly #sessions: SignedInBrowsers;
  readonly #attempts: KeyAttempts;
  /** Where pages with our tickets may lie; who asked for a link has put them there. */
  readonly #pages = new Set<string>();

  private constructor(stateDir: string, sessions: SignedInBrowsers, { now, fleet }: AccessDeps) {
    this.#stateDir = stateDir;
    this.#file = join(stateDir, 'run', 'admin.key');
    this.#attempts = new KeyAttempts(now);
    this.#key = new AdminKey(fleet);
    this.#sessions = sessions;
  }

  static async open(stateDir: string, deps: AccessDeps): Promise<OperatorAccess> {
    const access = new OperatorAccess(stateDir, await openSessions(stateDir, deps), deps);
    writeFileAtomicSync(access.#file, `${access.#key.text}\n`, 0o600);
    return access;
  }

  isKey(text: string): boolean {
    return this.#key.is(text);
  }

  async find(token: string): Promise<FoundSession | undefined> {
    return this.#sessions.find(token);
  }

  isSignedIn(id: string): boolean {
    return this.#sessions.has(id);
  }

  async signIn(key: string): Promise<OpenedSession> {
    this.#attempts.check();
    if (this.isKey(key.trim())) return this.#sessions.open();
    this.#attempts.failed();
    throw new GatewayError(
      'CREDENTIALS_REFUSED',
      'That is not the key in run/admin.key of the state folder. It is another one after each start; `trunkline dashboard` needs none.',
    );
  }

  async hasSessions(): Promise<boolean> {
    return this.#sessions.isAny;
  }

  async signOut(id: string): Promise<void> {
    await this.#sessions.close(id);
  }

  async ticket(): Promise<Ticket> {
    const ticket = await this.#sessions.ticket();
    const [oldest] = this.#pages;
    if (this.#pages.size >= MAX_PAGES && oldest !== undefined) void this.#remove(oldest);
    this.#pages.add(entryPage(this.#stateDir, ticket.text));
    return ticket;
  }

  async enter(ticket: string): Promise<OpenedSession | undefined> {
    const opened = await this.#sessions.enter(ticket);
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
    if (readKey(this.#file) === this.#key.text) rmSync(this.#file, { force: true });
  }

  async #remove(page: string): Promise<void> {
    this.#pages.delete(page);
    await removeEntryPage(page);
  }
}

/** In the database that several gateways share, else in a file of the state folder. */
async function openSessions(stateDir: string, { now, log, store }: AccessDeps): Promise<SignedInBrowsers> {
  if (store.place.server !== undefined) {
    const { SharedBrowserSessions } = await import('../../admin/sessions/shared-browser-sessions.ts');
    const onProblem = (error: unknown): void =>
      log.debug('The use of a session of the dashboard was not written down.', { reason: String(error) });
    const follow = (listener: () => void): void => store.follow('browsers', listener);
    return new SharedBrowserSessions({ database: store.database, follow, now, onProblem });
  }
  const { BrowserSessions } = await import('../../admin/sessions/browser-sessions.ts');
  const file = join(stateDir, SESSIONS_FILE);
  const onProblem = (error: unknown): void =>
    log.warn('Sessions of the dashboard cannot be kept beyond this run.', { file, reason: String(error) });
  return new BrowserSessions({ file, now, onProblem });
}

function readKey(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined; // It is gone already.
  }
}
