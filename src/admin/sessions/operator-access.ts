import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BROWSER_SESSIONS_FILE } from './browser-session-store.ts';
import { KeyAttemptLimiter } from './key-attempt-limiter.ts';
import type {
  ActiveBrowserSession,
  NewBrowserSession,
  BrowserSessionStore,
  SignInTicket,
} from './browser-session-store.ts';
import { entryPageFile, removeEntryPage } from './entry-page.ts';
import { writeFileAtomicSync } from '../../core/lib/write-file-atomic-sync.ts';
import type { Database } from '../../core/storage/database.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Logger } from '../../observability/log.ts';
import { AdminAccessKey } from './admin-access-key.ts';
import type { KeyFleet } from './admin-access-key.ts';

/** Maximum number of entry pages (see `entry-page.ts`); equal to the maximum number of valid tickets. */
const MAX_PAGES = 32;

interface OperatorAccessDeps {
  readonly now: () => number;
  readonly log: Logger;
  readonly store: {
    readonly database: () => Promise<Database>;
    /** `server` is present if several gateways share the database. */
    readonly place: { readonly server?: unknown };
    readonly follow: (topic: 'browsers', listener: () => void) => void;
  };
  /** The key that all gateways on a shared database have in common. It is read only if the database is shared. */
  readonly key: { get(): Promise<Buffer> };
  readonly fleet: KeyFleet | undefined;
}

/** Authenticates the operator over TCP: by a key in a file that only this user can read, or by the session of a browser. */
export class OperatorAccess implements AsyncDisposable {
  readonly #stateDir: string;
  readonly #keyFile: string;
  readonly #key: AdminAccessKey;
  readonly #sessions: BrowserSessionStore;
  readonly #attempts: KeyAttemptLimiter;
  /** The paths of entry pages that a client may have written. */
  readonly #pages = new Set<string>();

  private constructor(stateDir: string, sessions: BrowserSessionStore, { now, fleet }: OperatorAccessDeps) {
    this.#stateDir = stateDir;
    this.#keyFile = join(stateDir, 'run', 'admin.key');
    this.#attempts = new KeyAttemptLimiter(now);
    this.#key = new AdminAccessKey(fleet);
    this.#sessions = sessions;
  }

  static async open(stateDir: string, deps: OperatorAccessDeps): Promise<OperatorAccess> {
    const access = new OperatorAccess(stateDir, await openBrowserSessions(stateDir, deps), deps);
    writeFileAtomicSync(access.#keyFile, `${access.#key.text}\n`, 0o600);
    return access;
  }

  isKey(text: string): boolean {
    return this.#key.matches(text);
  }

  async findSession(token: string): Promise<ActiveBrowserSession | undefined> {
    return this.#sessions.find(token);
  }

  isSignedIn(id: string): boolean {
    return this.#sessions.has(id);
  }

  /** Opens a session with the admin key. Wrong keys never block the right one; otherwise, anyone could lock out the operator. */
  async signIn(key: string, remoteAddress: string): Promise<NewBrowserSession> {
    if (this.isKey(key.trim())) return this.#sessions.open();
    this.#attempts.recordFailure(remoteAddress);
    throw new GatewayError(
      'CREDENTIALS_REFUSED',
      'The admin key is wrong. It is in run/admin.key of the state folder, and changes with every start. Run `trunkline dashboard` to sign in without a key.',
    );
  }

  async hasSessions(): Promise<boolean> {
    return this.#sessions.hasAny();
  }

  async signOut(id: string): Promise<void> {
    await this.#sessions.close(id);
  }

  async createTicket(): Promise<SignInTicket> {
    const ticket = await this.#sessions.createTicket();
    const [oldest] = this.#pages;
    if (this.#pages.size >= MAX_PAGES && oldest !== undefined) void this.#remove(oldest);
    this.#pages.add(entryPageFile(this.#stateDir, ticket.text));
    return ticket;
  }

  async redeemTicket(ticket: string): Promise<NewBrowserSession | undefined> {
    const opened = await this.#sessions.redeemTicket(ticket);
    if (opened !== undefined) void this.#remove(entryPageFile(this.#stateDir, ticket));
    return opened;
  }

  /** Removes all entry pages. Called when no ticket is valid any more. */
  async removePages(): Promise<void> {
    await Promise.all([...this.#pages].map((page) => this.#remove(page)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.removePages();
    await this.#sessions.saved();
    // Another gateway may have replaced the key with its own.
    if (readKey(this.#keyFile) === this.#key.text) rmSync(this.#keyFile, { force: true });
  }

  async #remove(page: string): Promise<void> {
    this.#pages.delete(page);
    await removeEntryPage(page);
  }
}

/** Opens the sessions in the database that several gateways share, or in a file of the state folder. */
async function openBrowserSessions(
  stateDir: string,
  { now, log, store, key }: OperatorAccessDeps,
): Promise<BrowserSessionStore> {
  if (store.place.server !== undefined) {
    const { SharedBrowserSessions } = await import('./shared-browser-sessions.ts');
    const onProblem = (error: unknown): void =>
      log.debug('The last use of a dashboard session could not be saved.', { reason: String(error) });
    const follow = (listener: () => void): void => store.follow('browsers', listener);
    const secret = (): Promise<Buffer> => key.get();
    return new SharedBrowserSessions({ database: store.database, follow, secret, now, onProblem });
  }
  const { FileBrowserSessions } = await import('./file-browser-sessions.ts');
  const file = join(stateDir, BROWSER_SESSIONS_FILE);
  const onProblem = (error: unknown): void =>
    log.warn('Dashboard sessions end with this process, since they cannot be saved.', {
      file,
      reason: String(error),
    });
  return new FileBrowserSessions({ file, now, onProblem });
}

function readKey(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined; // The file has been removed already.
  }
}
