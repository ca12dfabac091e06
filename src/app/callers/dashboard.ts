import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SESSIONS_FILE } from '../../admin/sessions/sessions-file.ts';
import type { AdminSessionLink } from '../../admin/contract/dashboard-contract.ts';
import type { BrowserAccess } from '../../admin/deps.ts';
import type { AdminRoutes } from '../../admin/routes.ts';
import type { OpenedSession } from '../../admin/sessions/session-life.ts';
import type { KeySource } from '../../auth/upstream/sealing/secret-key.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { GatewayError } from '../../model/errors.ts';
import type { AuditTrail } from '../../observe/audit/audit-trail.ts';
import type { Logger } from '../../observe/log.ts';
import type { Listener } from '../../downstream/listen.ts';
import type { AppOptions } from '../app-options.ts';
import type { Store } from '../open-store.ts';
import type { AdminDoor } from './admin-door.ts';
import type { KeyFleet } from './admin-key.ts';
import type { OperatorAccess } from './operator-access.ts';

/** Long after a client that waits was answered. */
const RESUME_AFTER_MS = 1500;

interface DashboardDeps {
  readonly admin: () => Promise<AdminRoutes>;
  readonly publicUrl: () => string | undefined;
  /** Somebody looks at a page, for whom the gateway stays. */
  readonly stay: () => Disposable;
  readonly store: Store;
  /** The gateways on the same database, and the secret that they share. */
  readonly fleet: Pick<Fleet, 'replicas'> | undefined;
  readonly key: KeySource;
  readonly audit: AuditTrail;
  readonly log: Logger;
}

interface Opened {
  readonly access: OperatorAccess;
  readonly door: AdminDoor;
}

/**
 * Pages for the operator. `serve --http` has them at its own address; for a gateway in the background a listener on loopback
 * is opened when somebody asks for a link. All of it is loaded then.
 */
export class Dashboard implements BrowserAccess, AsyncDisposable {
  readonly #options: AppOptions;
  readonly #deps: DashboardDeps;
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  #url: URL | undefined;
  /** For who has a link and has not opened it yet. */
  #expected: { readonly held: Disposable; readonly timer: NodeJS.Timeout } | undefined;
  #listening: Promise<Listener> | undefined;
  readonly #resuming: NodeJS.Timeout | undefined;

  constructor(options: AppOptions, deps: DashboardDeps) {
    this.#options = options;
    this.#deps = deps;
    if (options.listen === 'socket')
      this.#resuming = setTimeout(() => void this.#resume(), RESUME_AFTER_MS).unref();
  }

  /** Whoever has a listener puts it there. */
  async door(): Promise<AdminDoor> {
    return (await this.#open()).door;
  }

  listensAt(url: URL): void {
    this.#url = url;
  }

  async link(): Promise<AdminSessionLink> {
    const { access } = await this.#open();
    const url = this.#url ?? (await this.#listener()).url;
    const { text, expiresAt } = await access.ticket();
    this.#stayUntil(expiresAt);
    const link = new URL(`/enter?ticket=${text}`, url);
    // A wildcard is an address to listen at, not one to go to.
    if (link.hostname === '0.0.0.0' || link.hostname === '[::]') link.hostname = '127.0.0.1';
    return { url: link.href, expiresAt };
  }

  async signIn(key: string): Promise<OpenedSession> {
    if (this.#opened === undefined) throw new GatewayError('INVARIANT', 'Nobody can sign in here yet.');
    return this.#opened.access.signIn(key);
  }

  async signOut(id: string): Promise<void> {
    await this.#opened?.access.signOut(id);
  }

  isSignedIn(id: string): boolean {
    return this.#opened?.access.isSignedIn(id) === true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#resuming);
    clearTimeout(this.#expected?.timer);
    await (await this.#listening?.catch(() => undefined))?.close();
    await (await this.#opening?.catch(() => undefined))?.access[Symbol.asyncDispose]();
  }

  #stayUntil(at: number): void {
    const held = this.#expected?.held ?? this.#deps.stay();
    clearTimeout(this.#expected?.timer);
    const timer = setTimeout(() => {
      this.#expected = undefined;
      void this.#opened?.access.removePages();
      held[Symbol.dispose]();
    }, at - Date.now()).unref();
    this.#expected = { held, timer };
  }

  #open(): Promise<Opened> {
    return (this.#opening ??= this.#load());
  }

  async #load(): Promise<Opened> {
    const [{ OperatorAccess: Access }, { AdminDoor: Door }, { SiteFiles }] = await Promise.all([
      import('./operator-access.ts'),
      import('./admin-door.ts'),
      import('../../admin/site/site-files.ts'),
    ]);
    const { admin, publicUrl, audit, store, log } = this.#deps;
    const { stateDir, web } = this.#options;
    const access = await Access.open(stateDir, { now: Date.now, log, store, fleet: await this.#keyFleet() });
    const door = new Door({ access, site: new SiteFiles(web), admin, publicUrl, audit, log });
    return (this.#opened = { access, door });
  }

  async #keyFleet(): Promise<KeyFleet | undefined> {
    const { fleet, key } = this.#deps;
    if (fleet === undefined) return undefined;
    const { replicas } = fleet;
    const isThere = (id: string): boolean => replicas.find(id) !== undefined;
    return { secret: await key.get(), self: replicas.self.id, isThere };
  }

  /** A page that was open when another gateway ended finds its sessions at the same place. */
  async #resume(): Promise<void> {
    const { stateDir } = this.#options;
    const isShared = this.#deps.store.place.server !== undefined;
    if (portIn(stateDir) === 0 || !(isShared || hasSessions(stateDir))) return;
    try {
      const { access } = await this.#open();
      if (await access.hasSessions()) await this.#listener();
    } catch {
      // Best effort: whoever wants to see it asks for a link.
    }
  }

  #listener(): Promise<Listener> {
    this.#listening ??= this.#listen().catch((error: unknown) => {
      this.#listening = undefined;
      throw error;
    });
    return this.#listening;
  }

  /** At the same port as the last time, if that is free. */
  async #listen(): Promise<Listener> {
    const { socket, stateDir } = this.#options;
    if (socket === undefined)
      throw new GatewayError(
        'USAGE',
        'Nothing that stays listens for browsers here; start it with: trunkline serve --http',
      );
    const { openDashboardListener } = await import('./dashboard-listener.ts');
    const { log, stay } = this.#deps;
    const door = await this.door();
    const open = (port: number) => openDashboardListener({ port, door, log, stay });
    const listener = await open(portIn(stateDir)).catch(() => open(0));
    // Best effort: otherwise it is another one the next time.
    await writeFileAtomic(portFile(stateDir), `${listener.url.port}\n`, 0o600).catch(() => {});
    return listener;
  }
}

function hasSessions(stateDir: string): boolean {
  return existsSync(join(stateDir, SESSIONS_FILE));
}

function portFile(stateDir: string): string {
  return join(stateDir, 'dashboard-port');
}

function portIn(stateDir: string): number {
  try {
    const port = Number(readFileSync(portFile(stateDir), 'utf8'));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0;
  } catch {
    return 0; // None was opened before.
  }
}
