import type { IncomingHttpHeaders } from 'node:http';

/** The address at which a browser reached the dashboard. */
export interface DashboardAddress {
  /** Scheme, host and port as the browser knows them. */
  readonly origin: string;
  /** Part of the cookie name, because cookies ignore ports and one machine may run two gateways. */
  readonly port: string;
}

/** A header that pages of other sites cannot send without permission. */
const CSRF_HEADER = 'x-trunkline';

/** Lifetime of the cookie: the longest possible session. The gateway, not the browser, decides when a session ends. */
const MAX_AGE_SECONDS = 30 * 24 * 3600;

/** Returns the Set-Cookie header for a session token; without a token, the header deletes the cookie. */
export function formatSessionCookie(address: DashboardAddress, token: string | undefined): string {
  const secure = isSecure(address) ? '; Secure' : '';
  const age = token === undefined ? 0 : MAX_AGE_SECONDS;
  return `${cookieName(address)}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`;
}

export function readSessionToken(
  { cookie = '' }: IncomingHttpHeaders,
  address: DashboardAddress,
): string | undefined {
  const prefix = `${cookieName(address)}=`;
  return cookie
    .split(/; */)
    .find((pair) => pair.startsWith(prefix))
    ?.slice(prefix.length);
}

/**
 * Whether a page of the dashboard, and not another site in the same browser, sent the request. A request that may change data needs the
 * origin of the dashboard and a header that no form and no link can send.
 */
export function isSameOriginRequest(
  request: { readonly method?: string | undefined; readonly headers: IncomingHttpHeaders },
  address: DashboardAddress,
): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined && origin.toLowerCase() !== address.origin) return false;
  const isReadOnly = request.method === 'GET' || request.method === 'HEAD';
  // `none` is a direct navigation, such as a typed address.
  if (site !== undefined && site !== 'same-origin' && !(isReadOnly && site === 'none')) return false;
  return isReadOnly || (origin !== undefined && request.headers[CSRF_HEADER] !== undefined);
}

function isSecure({ origin }: DashboardAddress): boolean {
  return origin.startsWith('https:');
}

/** Returns the name of the cookie. With the prefix `__Host-`, browsers reject a cookie that another host of the same domain sets. */
function cookieName(address: DashboardAddress): string {
  return isSecure(address) ? '__Host-trunkline' : `trunkline_${address.port}`;
}
