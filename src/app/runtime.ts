import type { AdminRoutes } from '../admin/admin-routes.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { GatewayError } from '../core/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { AppOptions } from './app-options.ts';
import type { ClientListener } from './client-listeners.ts';
import type { Telemetry } from './open-telemetry.ts';
import type { GatewayReloader } from './gateway-reloader.ts';
import { ReferenceVariables } from './reference-variables.ts';

/**
 * Holds the parts of a running gateway that a reload replaces or that open late. Parts that are built earlier read them here when they need
 * them. Until the listener is open, the functions return the values of a gateway without clients.
 */
export class Runtime {
  /** The configuration in use. */
  snapshot: ConfigSnapshot;
  readonly variables: ReferenceVariables;
  telemetry: Telemetry | undefined;
  catalog: Catalog | undefined;
  gateway: Gateway | undefined;
  listener: ClientListener | undefined;
  /** Loads the admin API. */
  admin: (() => Promise<AdminRoutes>) | undefined;
  /** Follows the configuration file; undefined without a file or without listeners. */
  reloader: GatewayReloader | undefined;

  constructor(snapshot: ConfigSnapshot, env: AppOptions['env']) {
    this.snapshot = snapshot;
    this.variables = new ReferenceVariables(env);
  }

  /** Returns the configuration in use. */
  readonly config = (): ConfigSnapshot => this.snapshot;

  /** Returns the address of `/mcp`, where HTTP clients connect. */
  readonly url = (): string | undefined => this.listener?.url;

  readonly openAdmin = (): Promise<AdminRoutes> => {
    if (this.admin === undefined) throw new GatewayError('INVARIANT', 'The admin API is not open yet.');
    return this.admin();
  };

  readonly clients = (): number => this.listener?.clients() ?? 0;

  /** Keeps a background gateway running without clients until the result is disposed. */
  readonly keepRunning = (): Disposable => this.listener?.keepRunning?.() ?? { [Symbol.dispose]: () => {} };
}
