import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import type { Database } from '../../../core/storage/database.ts';
import type { AuditEvent } from '../../../observability/audit/audit-record.ts';
import type { KeyCache } from '../key-cache.ts';
import { callerForKey } from '../key-provider.ts';
import type { WebRequest, WebResponse } from '../web-request.ts';
import type { ClientRegistry, RegisteredClient } from './client-registry.ts';
import { renderConsentPage, renderErrorPage, renderErrorWithLink } from './consent-page.ts';
import { openFlowStateStore } from './flow-state-store.ts';
import type { FlowStateStore } from './flow-state-store.ts';
import { buildRedirect, isLoopbackRedirect, isSameRedirect } from './redirect-uris.ts';
import { resolveResourcePath } from './resource-path.ts';

/** The data of an authorization code, which works once. Replicas of other versions read this object, so its members must keep their names. */
export interface AuthorizationCode {
  readonly client: string;
  readonly redirect: string;
  readonly challenge: string;
  /** The id of the key with which the person consented. */
  readonly key: string;
  readonly resource: string;
}

/** A consent page that waits for the person's decision. Replicas of other versions read this object, so its members must keep their names. */
interface PendingConsent extends Omit<AuthorizationCode, 'key'> {
  /** The client that asked for access. */
  readonly asked: RegisteredClient;
  readonly state?: string | undefined;
  /** The hash of a cookie that only the browser with the page has. */
  readonly cookie: string;
  /** Number of wrong keys that were entered. */
  readonly tries: number;
}

interface AuthorizationEndpointDeps {
  readonly issuer: () => string;
  readonly clients: ClientRegistry;
  readonly keyCache: KeyCache;
  readonly issueCode: (code: AuthorizationCode) => Promise<string>;
  readonly record: (event: AuditEvent) => void;
  readonly now: () => number;
  /** The database that the replicas share; undefined where there is only one gateway. */
  readonly database: (() => Promise<Database>) | undefined;
}

/** Time in which a person must decide on the consent page. */
const CONSENT_MS = 600_000;
const MAX_PENDING = 1000;
/** Number of wrong keys after which access is denied. */
const MAX_TRIES = 5;
const COOKIE = 'trunkline_consent';
const PAGE_EXPIRED = 'This page has expired, or was not opened in this browser. Start again in your program.';
/** The form of a PKCE challenge: a SHA-256 hash in base64url. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** Implements `/oauth/authorize`: asks a person for consent and sends the client a code. */
export class AuthorizationEndpoint {
  readonly #deps: AuthorizationEndpointDeps;
  readonly #pending: FlowStateStore<PendingConsent>;

  constructor(deps: AuthorizationEndpointDeps) {
    this.#deps = deps;
    const { now, database } = deps;
    this.#pending = openFlowStateStore({ kind: 'consent', max: MAX_PENDING, now, database });
  }

  /** `GET`: validates the authorization request and shows the consent page. */
  async showConsentPage({ query, host, destination }: WebRequest): Promise<WebResponse> {
    // Images and frames on other sites must not fill the limited store of pending consents.
    if (destination !== undefined && destination !== 'document')
      return renderErrorPage(
        403,
        'This page opens only in a window of its own. Start again in your program.',
      );
    const parameter = (name: string): string | undefined => query.getAll(name)[0];
    const repeated = [...new Set(query.keys())].find((name) => query.getAll(name).length > 1);
    if (repeated !== undefined)
      return renderErrorPage(400, 'The program that sent you here repeats a parameter of its request.');
    const client = await this.#deps.clients.find(parameter('client_id') ?? '');
    if (typeof client === 'string')
      return renderErrorPage(400, `The program that sent you here is unknown. ${client}`);
    // A client may omit the redirect address only if it registered exactly one.
    const redirect = parameter('redirect_uri') ?? client.redirectUris[0] ?? '';
    if (
      (parameter('redirect_uri') === undefined && client.redirectUris.length > 1) ||
      !client.redirectUris.some((registered) => isSameRedirect(registered, redirect))
    )
      return renderErrorPage(
        400,
        'The program that sent you here asks for a redirect to an address that it did not register.',
      );
    const state = parameter('state');
    const redirectError = (error: string, description: string): Promise<WebResponse> =>
      this.#reportError(client, redirect, { error, error_description: description, state });
    if (parameter('response_type') !== 'code')
      return redirectError('unsupported_response_type', 'Only the response type "code" is supported.');
    const challenge = parameter('code_challenge') ?? '';
    if (parameter('code_challenge_method') !== 'S256' || !CHALLENGE.test(challenge))
      return redirectError('invalid_request', 'A code_challenge with the method S256 is required.');
    const resource = resolveResourcePath(parameter('resource'), { issuer: this.#deps.issuer(), host });
    if (resource === undefined)
      return redirectError('invalid_target', 'The resource does not belong to this gateway.');
    const cookie = randomBytes(32).toString('base64url');
    const id = randomBytes(32).toString('base64url');
    const consent: PendingConsent = {
      client: client.id,
      asked: client,
      redirect,
      challenge,
      resource,
      state,
      cookie: hashText(cookie),
      tries: 0,
    };
    await this.#pending.set(hashText(id), consent, CONSENT_MS);
    return this.#renderPage(id, consent, { headers: ['Set-Cookie', this.#cookieHeader(cookie)] });
  }

  /** `POST`: handles the form of the consent page. */
  async handleDecision(request: WebRequest): Promise<WebResponse> {
    const form = new URLSearchParams(request.body);
    const id = form.get('transaction') ?? '';
    const consent = await this.#pending.get(hashText(id));
    if (!this.#isFromOwnPage(request) || consent === undefined || !hasCookie(request, consent.cookie))
      return renderErrorPage(403, PAGE_EXPIRED);
    const { redirect, state, asked: requester } = consent;
    if (form.get('decision') !== 'allow') {
      await this.#pending.take(hashText(id));
      return this.#redirect(redirect, { error: 'access_denied', state });
    }
    const key = this.#deps.keyCache.find((form.get('key') ?? '').trim());
    if (key === undefined) return this.#handleWrongKey(id, consent);
    // The consent is gone if another request or replica handled the same form at the same time.
    if ((await this.#pending.take(hashText(id))) === undefined) return renderErrorPage(403, PAGE_EXPIRED);
    this.#deps.keyCache.recordUse(key.id);
    await this.#deps.clients.recordConsent(requester.id);
    const { client, challenge, resource } = consent;
    const code = await this.#deps.issueCode({ client, redirect, challenge, resource, key: key.id });
    this.#deps.record({
      kind: 'sign-in',
      action: 'authorize',
      caller: callerForKey(key),
      outcome: 'ok',
      details: { client: requester.id, name: requester.name },
    });
    return this.#redirect(redirect, { code, state });
  }

  async #handleWrongKey(id: string, consent: PendingConsent): Promise<WebResponse> {
    const tries = consent.tries + 1;
    this.#deps.record({
      kind: 'sign-in',
      action: 'authorize',
      caller: { id: 'unknown', via: 'http', profile: 'default' },
      outcome: 'refused',
      code: 'CREDENTIALS_REFUSED',
      details: { client: consent.client },
    });
    if (tries < MAX_TRIES) {
      await this.#pending.set(hashText(id), { ...consent, tries }, CONSENT_MS);
      return this.#renderPage(id, consent, {
        status: 403,
        problem: 'This key is wrong, revoked or expired.',
      });
    }
    await this.#pending.take(hashText(id));
    return this.#redirect(consent.redirect, { error: 'access_denied', state: consent.state });
  }

  #renderPage(
    transaction: string,
    { asked: requester, redirect, resource }: PendingConsent,
    options: { readonly status?: number; readonly problem?: string; readonly headers?: readonly string[] },
  ): WebResponse {
    return renderConsentPage(
      {
        transaction,
        clientName: requester.name,
        clientHost: /^https?:/.test(requester.id) ? new URL(requester.id).host : undefined,
        redirect,
        resource: `${this.#deps.issuer()}${resource === '' ? '/mcp' : resource}`,
        problem: options.problem,
      },
      options.status,
      options.headers,
    );
  }

  /**
   * Reports an error to the client. Redirects only to this machine and to clients that a person has consented to; otherwise shows the error
   * with a link. Any site can register, so an invalid request alone must not redirect a browser there (RFC 9700, section 4.11.2).
   */
  async #reportError(
    client: RegisteredClient,
    uri: string,
    error: {
      readonly error: string;
      readonly error_description: string;
      readonly state: string | undefined;
    },
  ): Promise<WebResponse> {
    if (isLoopbackRedirect(uri) || (await this.#deps.clients.hasConsent(client.id)))
      return this.#redirect(uri, error);
    return renderErrorWithLink(error.error_description, this.#redirectAddress(uri, error));
  }

  #redirectAddress(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
    return buildRedirect(uri, { ...parameters, iss: this.#deps.issuer() });
  }

  #redirect(uri: string, parameters: Readonly<Record<string, string | undefined>>): WebResponse {
    const location = this.#redirectAddress(uri, parameters);
    return {
      status: 302,
      headers: ['Location', location, 'Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer'],
      body: '',
    };
  }

  #cookieHeader(cookie: string): string {
    const secure = this.#deps.issuer().startsWith('https:') ? '; Secure' : '';
    return `${COOKIE}=${cookie}; Path=/oauth; HttpOnly; SameSite=Strict; Max-Age=${CONSENT_MS / 1000}${secure}`;
  }

  /** Whether our own page sent the form. Checks headers that browsers set and that no page can forge. */
  #isFromOwnPage({ origin, site, host, type }: WebRequest): boolean {
    const ownOrigins = [this.#deps.issuer(), `http://${host}`];
    const isForm = type?.split(';')[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
    const isSameSite = site === undefined || site === 'same-origin' || site === 'none';
    return isForm && isSameSite && (origin === undefined || ownOrigins.includes(origin));
  }
}

function hasCookie({ cookie = '' }: WebRequest, expectedHash: string): boolean {
  const values = cookie.split(/; */).flatMap((pair) => {
    const [name, value = ''] = pair.split('=');
    return name === COOKIE ? [value] : [];
  });
  return values.some((value) => timingSafeEqual(Buffer.from(hashText(value)), Buffer.from(expectedHash)));
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
