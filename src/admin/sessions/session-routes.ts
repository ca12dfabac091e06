import type { Caller } from '../../model/caller.ts';
import { GatewayError } from '../../model/errors.ts';
import type { AdminSession } from '../contract/dashboard-contract.ts';
import type { AdminDeps } from '../deps.ts';
import { DASHBOARD } from '../proof.ts';
import type { Proof } from '../proof.ts';
import { askedIn, jsonResponse, route, text } from '../route.ts';
import type { AdminApp } from '../route.ts';
import { sessionCookie } from './session-cookie.ts';
import type { OpenedSession } from './session-life.ts';

/** Signing browsers in and out. */
export function sessionRoutes(app: AdminApp, deps: AdminDeps): void {
  const { browsers, audit } = deps;
  route(app, 'GET /api/session', ({ proof, caller }) => sessionShown(proof, caller));
  app.post('/api/session', async (context) => {
    const { body, proof } = await askedIn(context);
    if (proof.place === undefined)
      throw new GatewayError('USAGE', 'Only browsers sign in; commands on this machine need not.');
    const { token, expiresAt } = await signIn(deps, text(body, 'key'));
    const shown = { by: 'session', isPerson: true, caller: DASHBOARD.id, expiresAt } as const;
    return withCookie(shown, sessionCookie(proof.place, token));
  });
  app.delete('/api/session', async (context) => {
    const { proof } = await askedIn(context);
    if (proof.session === undefined || proof.place === undefined)
      throw new GatewayError('USAGE', 'Only browsers sign out; nothing else is signed in.');
    await browsers.signOut(proof.session.id);
    audit.record({ kind: 'sign-in', action: 'sign-out', caller: DASHBOARD });
    return withCookie({ signedOut: true }, sessionCookie(proof.place, undefined));
  });
  route(app, 'POST /api/session/link', ({ proof }) => {
    // A browser that is signed in must not be able to let others in for longer than itself.
    if (proof.by === 'session')
      throw new GatewayError('USAGE', 'A link is made by `trunkline dashboard`, or with the admin key.');
    return browsers.link();
  });
}

const UNKNOWN: Caller = { id: 'unknown', via: 'admin', profile: 'default' };

async function signIn({ browsers, audit }: AdminDeps, key: string): Promise<OpenedSession> {
  try {
    const opened = await browsers.signIn(key);
    audit.record({ kind: 'sign-in', action: 'sign-in', caller: DASHBOARD, details: { by: 'key' } });
    return opened;
  } catch (error) {
    // Those who are not even listened to are too many to be written down.
    const code = error instanceof GatewayError ? error.code : 'INVARIANT';
    if (code !== 'RATE_LIMITED')
      audit.record({ kind: 'sign-in', action: 'refuse', caller: UNKNOWN, outcome: 'refused', code });
    throw error;
  }
}

function sessionShown({ by, isPerson, session }: Proof, caller: Caller): AdminSession {
  if (by === 'nobody') throw new GatewayError('CREDENTIALS_REFUSED', 'Nobody is signed in.');
  return { by, isPerson, caller: caller.id, ...(session && { expiresAt: session.expiresAt }) };
}

function withCookie(value: object, cookie: string): Response {
  const response = jsonResponse(JSON.stringify(value));
  response.headers.set('set-cookie', cookie);
  return response;
}
