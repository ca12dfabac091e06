import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BROWSER_SESSIONS_FILE } from '../admin/sessions/browser-session-store.ts';
import type { AdminSessionLink } from '../admin/contract/dashboard-contract.ts';
import type { BrowserAccess } from '../admin/admin-deps.ts';
import type { AdminRoutes } from '../admin/admin-routes.ts';
import type { NewBrowserSession } from '../admin/sessions/browser-session-store.ts';
import type { KeySource } from '../auth/upstream/token-encryption/secret-key.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { GatewayError } from '../core/errors.ts';
import type { AuditTrail } from '../observability/audit/audit-trail.ts';
import type { Logger } from '../observability/log.ts';
import type { HttpListener } from '../downstream/http/listen.ts';
import type { AppOptions } from './app-options.ts';
import { chooseDashboardPort, hasDashboardPort, saveDashboardPort } from './dashboard-port.ts';
import type { Store } from './open-store.ts';
import type { AdminEndpoint } from '../admin/admin-endpoint.ts';
import type { KeyFleet } from '../admin/sessions/admin-access-key.ts';
import type { OperatorAccess } from '../admin/sessions/operator-access.ts';

/** Delay before a new gateway reopens the dashboard port of the previous one; loading the dashboard earlier would slow down the first client. */
const RESTORE_DELAY_MS = 1500;

interface DashboardServerDeps {
  readonly admin: () => Promise<AdminRoutes>;
  readonly publicUrl: () => string | undefined;
  /** Keeps the gateway running for a user of the dashboard until the result is disposed. */
  readonly keepRunning: () => Disposable;
  readonly store: Store;
  /** The gateways that share the database and the secret of `key`; undefined for a single gateway. */
  readonly fleet: Pick<Fleet, 'replicas'> | undefined;
  readonly key: KeySource;
  readonly audit: AuditTrail;
  readonly log: Logger;
}

interface LoadedDashboard {
  readonly access: OperatorAccess;
  readonly endpoint: AdminEndpoint;
}

/**
 * Serves the dashboard. `serve --http` serves it on the same listener as MCP. A background gateway opens a listener on loopback when a
 * link is requested, and loads the code of the dashboard only then.
 */
export class DashboardServer implements BrowserAccess, AsyncDisposable {
  readonly #options: AppOptions;
  readonly #deps: DashboardServerDeps;
  #loading: Promise<LoadedDashboard> | undefined;
  #loaded: LoadedDashboard | undefined;
  #url: URL | undefined;
  /** Keeps the gateway running while a link can still be opened. */
  #pendingLink: { readonly running: Disposable; readonly timer: NodeJS.Timeout } | undefined;
  #listener: Promise<HttpListener> | undefined;
  readonly #restoreTimer: NodeJS.Timeout | undefined;

  constructor(options: AppOptions, deps: DashboardServerDeps) {
    this.#options = options;
    this.#deps = deps;
    if (options.listen === 'socket')
      this.#restoreTimer = setTimeout(() => void this.#restoreListener(), RESTORE_DELAY_MS).unref();
  }

  /** Resolves with the endpoint, for a listener that also serves MCP. */
  async endpoint(): Promise<AdminEndpoint> {
    return (await this.#load()).endpoint;
  }

  /** Sets the address of the listener that serves the endpoint. */
  setUrl(url: URL): void {
    this.#url = url;
  }

  async createLink(): Promise<AdminSessionLink> {
    const { access } = await this.#load();
    const url = this.#url ?? (await this.#openListener()).url;
    const { text, expiresAt } = await access.createTicket();
    this.#keepRunningUntil(expiresAt);
    const link = new URL(`/enter?ticket=${text}`, url);
    // A browser cannot connect to a wildcard address.
    if (link.hostname === '0.0.0.0' || link.hostname === '[::]') link.hostname = '127.0.0.1';
    return { url: link.href, expiresAt };
  }

  async signIn(key: string, remoteAddress: string): Promise<NewBrowserSession> {
    if (this.#loaded === undefined)
      throw new GatewayError('INVARIANT', 'The dashboard has not been loaded yet.');
    return this.#loaded.access.signIn(key, remoteAddress);
  }

  async signOut(id: string): Promise<void> {
    await this.#loaded?.access.signOut(id);
  }

  isSignedIn(id: string): boolean {
    return this.#loaded?.access.isSignedIn(id) === true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#restoreTimer);
    clearTimeout(this.#pendingLink?.timer);
    await (await this.#listener?.catch(() => undefined))?.close();
    await (await this.#loading?.catch(() => undefined))?.access[Symbol.asyncDispose]();
  }

  #keepRunningUntil(time: number): void {
    const running = this.#pendingLink?.running ?? this.#deps.keepRunning();
    clearTimeout(this.#pendingLink?.timer);
    const timer = setTimeout(() => {
      this.#pendingLink = undefined;
      // The links in the entry pages have expired.
      void this.#loaded?.access.removePages();
      running[Symbol.dispose]();
    }, time - Date.now()).unref();
    this.#pendingLink = { running, timer };
  }

  #load(): Promise<LoadedDashboard> {
    return (this.#loading ??= this.#loadModules());
  }

  async #loadModules(): Promise<LoadedDashboard> {
    const [operatorAccess, adminEndpoint, { SiteFiles }] = await Promise.all([
      import('../admin/sessions/operator-access.ts'),
      import('../admin/admin-endpoint.ts'),
      import('../admin/site/site-files.ts'),
    ]);
    const { admin, publicUrl, audit, store, key, log } = this.#deps;
    const { stateDir, dashboardDir } = this.#options;
    const fleet = await this.#keyFleet();
    const access = await operatorAccess.OperatorAccess.open(stateDir, {
      now: Date.now,
      log,
      store,
      key,
      fleet,
    });
    const site = new SiteFiles(dashboardDir);
    const endpoint = new adminEndpoint.AdminEndpoint({ access, site, admin, publicUrl, audit, log });
    return (this.#loaded = { access, endpoint });
  }

  async #keyFleet(): Promise<KeyFleet | undefined> {
    const { fleet, key } = this.#deps;
    if (fleet === undefined) return undefined;
    const { replicas } = fleet;
    const isRunning = (id: string): boolean => replicas.find(id) !== undefined;
    return { secret: await key.get(), self: replicas.self.id, isRunning };
  }

  /** Listens again on the port of an earlier gateway, so that a page that is still open in a browser continues to work. */
  async #restoreListener(): Promise<void> {
    const { stateDir } = this.#options;
    // Without a database server, sessions are in a file. If that file does not exist, the code need not be loaded.
    const usesDatabaseServer = this.#deps.store.place.server !== undefined;
    if (!hasDashboardPort(stateDir) || !(usesDatabaseServer || hasSessionsFile(stateDir))) return;
    try {
      const { access } = await this.#load();
      if (await access.hasSessions()) await this.#openListener();
    } catch {
      // The page stays disconnected, and the user can request another link.
    }
  }

  #openListener(): Promise<HttpListener> {
    this.#listener ??= this.#listen().catch((error: unknown) => {
      this.#listener = undefined;
      throw error;
    });
    return this.#listener;
  }

  /**
   * Listens on the port of this configuration, so that the address can be bookmarked, or on another one while that port is in use. The port of
   * the first dashboard is saved, and every later gateway tries it first.
   */
  async #listen(): Promise<HttpListener> {
    const { socket, stateDir } = this.#options;
    if (socket === undefined)
      throw new GatewayError(
        'USAGE',
        'This command does not keep running, so it cannot serve the dashboard. Start a gateway with: trunkline serve --http',
      );
    const { openDashboardListener } = await import('./dashboard-listener.ts');
    const { log, keepRunning } = this.#deps;
    const endpoint = await this.endpoint();
    const open = (port: number) => openDashboardListener({ port, endpoint, log, keepRunning });
    const listener = await open(chooseDashboardPort(stateDir)).catch(() => open(0));
    await saveDashboardPort(stateDir, listener.url.port);
    return listener;
  }
}

function hasSessionsFile(stateDir: string): boolean {
  return existsSync(join(stateDir, BROWSER_SESSIONS_FILE));
}
