import type { IncomingHttpHeaders } from 'node:http';

/** Where a browser finds the dashboard. */
export interface Place {
  /** As the browser spells it: scheme, host and port. */
  readonly origin: string;
  /** Cookies do not know ports, so that two gateways of one machine need two names. */
  readonly port: string;
}

const HEADER = 'x-trunkline';

/** Longer than any session lasts; when it ends is decided here and not there. */
const KEPT_SECONDS = 30 * 24 * 3600;

/** Without a token it is taken away. */
export function sessionCookie(place: Place, token: string | undefined): string {
  const secure = isSecure(place) ? '; Secure' : '';
  const age = token === undefined ? 0 : KEPT_SECONDS;
  return `${nameAt(place)}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`;
}

export function tokenIn({ cookie = '' }: IncomingHttpHeaders, place: Place): string | undefined {
  const begin = `${nameAt(place)}=`;
  return cookie
    .split(/; */)
    .find((pair) => pair.startsWith(begin))
    ?.slice(begin.length);
}

/**
 * Whether a page of ours sent this, and not another site in the same browser. What changes something needs a header
 * that no form and no link can send, and the origin that browsers tell with it.
 */
export function isOwnPage(
  request: { readonly method?: string | undefined; readonly headers: IncomingHttpHeaders },
  place: Place,
): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined && origin.toLowerCase() !== place.origin) return false;
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  // `none` is a person who typed the address.
  if (site !== undefined && site !== 'same-origin' && !(isReading && site === 'none')) return false;
  return isReading || (origin !== undefined && request.headers[HEADER] !== undefined);
}

function isSecure({ origin }: Place): boolean {
  return origin.startsWith('https:');
}

/** The prefix makes browsers refuse what another host of the same domain would set. */
function nameAt(place: Place): string {
  return isSecure(place) ? '__Host-trunkline' : `trunkline_${place.port}`;
}
