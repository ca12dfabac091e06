import type { Caller } from '../../core/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import { addRoute, jsonResponse, readRequest, requireText } from '../add-route.ts';
import type { AdminApp } from '../add-route.ts';
import { DASHBOARD_CALLER } from '../admin-authentication.ts';
import type { AdminAuthentication } from '../admin-authentication.ts';
import type { AdminDeps } from '../admin-deps.ts';
import type { AdminSession } from '../contract/dashboard-contract.ts';
import type { NewBrowserSession } from '../sessions/browser-session-store.ts';
import { formatSessionCookie } from '../sessions/session-cookie.ts';

/** Adds the routes that sign browsers in and out. */
export function addSessionRoutes(app: AdminApp, deps: AdminDeps): void {
  const { browsers, audit } = deps;
  addRoute(app, 'GET /api/session', ({ authentication, caller }) => presentSession(authentication, caller));
  app.post('/api/session', async (context) => {
    const { body, authentication } = await readRequest(context);
    if (authentication.address === undefined)
      throw new GatewayError(
        'USAGE',
        'Only browsers sign in. Commands on this machine have access without signing in.',
      );
    const { remoteAddress = '' } = authentication;
    const { token, expiresAt } = await signIn(deps, requireText(body, 'key'), remoteAddress);
    const session: AdminSession = { by: 'session', isPerson: true, caller: DASHBOARD_CALLER.id, expiresAt };
    return respondWithCookie(session, formatSessionCookie(authentication.address, token));
  });
  app.delete('/api/session', async (context) => {
    const { authentication } = await readRequest(context);
    if (authentication.session === undefined || authentication.address === undefined)
      throw new GatewayError('USAGE', 'Only a browser that is signed in can sign out.');
    await browsers.signOut(authentication.session.id);
    audit.record({ kind: 'sign-in', action: 'sign-out', caller: DASHBOARD_CALLER });
    return respondWithCookie({ signedOut: true }, formatSessionCookie(authentication.address, undefined));
  });
  addRoute(app, 'POST /api/session/link', ({ authentication }) => {
    // A signed-in browser must not give others access that lasts longer than its own session.
    if (authentication.method === 'session')
      throw new GatewayError(
        'USAGE',
        'A browser cannot create a sign-in link. Use `trunkline dashboard`, or send the admin key.',
      );
    return browsers.createLink();
  });
}

function presentSession({ method, isPerson, session }: AdminAuthentication, caller: Caller): AdminSession {
  if (method === 'none') throw new GatewayError('CREDENTIALS_REFUSED', 'This browser is not signed in.');
  return { by: method, isPerson, caller: caller.id, expiresAt: session?.expiresAt };
}

const UNKNOWN_CALLER: Caller = { id: 'unknown', via: 'admin', profile: 'default' };

async function signIn(
  { browsers, audit }: AdminDeps,
  key: string,
  remoteAddress: string,
): Promise<NewBrowserSession> {
  try {
    const session = await browsers.signIn(key, remoteAddress);
    audit.record({ kind: 'sign-in', action: 'sign-in', caller: DASHBOARD_CALLER, details: { by: 'key' } });
    return session;
  } catch (error) {
    const code = error instanceof GatewayError ? error.code : 'INVARIANT';
    // Rate-limited attempts are not recorded, because there may be very many.
    if (code !== 'RATE_LIMITED')
      audit.record({ kind: 'sign-in', action: 'refuse', caller: UNKNOWN_CALLER, outcome: 'refused', code });
    throw error;
  }
}

function respondWithCookie(value: object, cookie: string): Response {
  const response = jsonResponse(JSON.stringify(value));
  response.headers.set('set-cookie', cookie);
  return response;
}
