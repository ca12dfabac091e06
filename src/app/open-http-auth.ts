import type { CallerAuth } from '../auth/caller-auth.ts';
import type { ConfigSnapshot, GatewayConfig } from '../config/config.ts';
import { GatewayError } from '../core/errors.ts';
import { isUnwritable } from '../core/lib/is-unwritable.ts';
import { noAuthentication } from '../downstream/http/http-auth.ts';
import type { HttpAuth } from '../downstream/http/http-auth.ts';
import type { Logger } from '../observability/log.ts';
import type { AppOptions } from './app-options.ts';
import type { DashboardServer } from './dashboard-server.ts';

export interface ReloadableHttpAuth extends HttpAuth {
  /** Sets the address of the listener. It must be called before the first request. */
  setUrl(url: URL): void;
  /** Prepares the authentication of the next configuration and returns a function that activates it. Rejects an unusable configuration. */
  prepare(next: ConfigSnapshot): Promise<() => void>;
}

/** A listen address on this machine: a port, with or without a loopback host. */
const LOCAL_ADDRESS = /^(?:(?:127(?:\.\d{1,3}){3}|localhost|\[::1\]):)?\d{1,5}$/i;
const LOOPBACK_HOST = /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Opens the authentication of `serve --http` for callers, as the configuration requires, and for the operator. */
export async function openHttpAuth(
  { http }: AppOptions,
  { value }: ConfigSnapshot,
  deps: { readonly callers: CallerAuth; readonly dashboard: DashboardServer; readonly log: Logger },
): Promise<ReloadableHttpAuth> {
  const { callers, dashboard, log } = deps;
  const address = typeof http === 'string' ? http : value.http.address;
  let url = new URL('http://127.0.0.1');
  const createAuth = async (config: GatewayConfig): Promise<HttpAuth> => {
    checkIssuer(config, address);
    return (await callers.createHttpAuth(config, () => url.origin)) ?? noAuthentication;
  };
  let active = await createAuth(value);
  // The admin key is in a file of the state folder. Without that file, no user could sign in.
  const admin = await dashboard.endpoint().catch((error: unknown) => {
    if (!isUnwritable(error)) throw error;
    log.warn('The admin API and the dashboard are not available, since the state folder is read-only.', {
      reason: String(error),
    });
    return undefined;
  });
  return {
    admin,
    events: callers.events,
    authenticate: (request) => active.authenticate(request),
    get resource() {
      return active.resource;
    },
    get pages() {
      return active.pages;
    },
    get isAnonymous() {
      return active.isAnonymous === true;
    },
    onAuthFailures: (failures) => active.onAuthFailures?.(failures),
    prepare: async (next) => {
      // Without authentication, only this machine may connect.
      if (next.value.auth === undefined && !LOOPBACK_HOST.test(url.hostname))
        throw new GatewayError(
          'CONFIG_INVALID',
          `${next.file}: "auth" cannot be removed while the gateway listens on ${url.host}, where other machines could use every tool. Restore it, or restart the gateway on 127.0.0.1.`,
          { details: { file: next.file } },
        );
      const created = await createAuth(next.value);
      return () => void (active = created);
    },
    setUrl: (listenUrl) => {
      url = listenUrl;
      dashboard.setUrl(listenUrl);
      if (!LOOPBACK_HOST.test(listenUrl.hostname) && value.http.publicUrl?.startsWith('https:') !== true)
        log.warn(
          'Keys and tokens are sent unencrypted to this address. Put a proxy with TLS in front of the gateway and set http.publicUrl.',
          { address: listenUrl.host },
        );
    },
  };
}

/**
 * Throws if the authorization server needs `http.publicUrl` and the setting is missing. Clients compare the issuer with the address that they
 * use, so the issuer cannot be a wildcard address.
 */
function checkIssuer({ auth, http }: GatewayConfig, address: string): void {
  if (auth?.authorizationServer === undefined || http.publicUrl !== undefined || LOCAL_ADDRESS.test(address))
    return;
  throw new GatewayError(
    'USAGE',
    `The authorization server must know its public address to listen on "${address}". Set http.publicUrl, such as "https://mcp.example.com".`,
  );
}
