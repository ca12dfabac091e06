import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import type { AuditEvent } from '../../../observe/audit/audit-record.ts';
import type { Database } from '../../../storage/database.ts';
import type { KeyRing } from '../key-ring.ts';
import { callerOf } from '../keys.ts';
import type { WebReply, WebRequest } from '../web.ts';
import type { OauthClient } from './client.ts';
import type { Clients } from './clients.ts';
import { consentPage, problemPage } from './consent-page.ts';
import { isSameRedirect, redirectTo } from './redirect-uris.ts';
import { resourcePath } from './resource-path.ts';
import { openSteps } from './steps.ts';
import type { Steps } from './steps.ts';

/** What somebody agreed to and a client may collect once. */
export interface Code {
  readonly client: string;
  readonly redirect: string;
  readonly challenge: string;
  /** Id of a key. */
  readonly key: string;
  readonly resource: string;
}

interface Transaction extends Omit<Code, 'key'> {
  readonly asked: OauthClient;
  readonly state: string | undefined;
  /** Hash of what is only in a cookie of the browser that was shown the page. */
  readonly cookie: string;
  readonly tries: number;
}

export interface AuthorizeDeps {
  readonly issuer: () => string;
  readonly clients: Clients;
  readonly ring: KeyRing;
  readonly keepCode: (code: Code) => Promise<string>;
  readonly record: (event: AuditEvent) => void;
  readonly now: () => number;
  /** Where other gateways find what was begun here. */
  readonly database: (() => Promise<Database>) | undefined;
}

const TRANSACTION_MS = 600_000;
const MAX_TRANSACTIONS = 1000;
const MAX_TRIES = 5;
const COOKIE = 'trunkline_consent';
const TOO_OLD = 'This page is too old, or was not opened in this browser. Begin again in your program.';
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** Where a client sends a person to agree. */
export class Authorize {
  readonly #deps: AuthorizeDeps;
  readonly #transactions: Steps<Transaction>;

  constructor(deps: AuthorizeDeps) {
    this.#deps = deps;
    const { now, database } = deps;
    this.#transactions = openSteps({ kind: 'consent', max: MAX_TRANSACTIONS, now, database });
  }

  async begin({ query, host }: WebRequest): Promise<WebReply> {
    const single = (name: string): string | undefined => query.getAll(name)[0];
    const repeated = [...new Set(query.keys())].find((name) => query.getAll(name).length > 1);
    if (repeated !== undefined)
      return problemPage(400, 'The program that sent you here asks twice for one thing.');
    const client = await this.#deps.clients.find(single('client_id') ?? '');
    if (typeof client === 'string')
      return problemPage(400, `The program that sent you here is not known. ${client}`);
    const redirect = single('redirect_uri') ?? client.redirectUris[0] ?? '';
    if (
      (single('redirect_uri') === undefined && client.redirectUris.length > 1) ||
      !client.redirectUris.some((registered) => isSameRedirect(registered, redirect))
    )
      return problemPage(
        400,
        'The program that sent you here wants you back at an address that it did not register.',
      );
    const state = single('state');
    const back = (error: string, description: string): WebReply =>
      this.#back(redirect, { error, error_description: description, state });
    if (single('response_type') !== 'code')
      return back('unsupported_response_type', 'Only code is possible.');
    const challenge = single('code_challenge') ?? '';
    if (single('code_challenge_method') !== 'S256' || !CHALLENGE.test(challenge))
      return back('invalid_request', 'A code_challenge with the method S256 is necessary.');
    const resource = resourcePath(single('resource'), { issuer: this.#deps.issuer(), host });
    if (resource === undefined) return back('invalid_target', 'This resource is not ours.');
    const cookie = randomBytes(32).toString('base64url');
    const id = randomBytes(32).toString('base64url');
    const transaction = {
      client: client.id,
      asked: client,
      redirect,
      challenge,
      resource,
      state,
      cookie: hashOf(cookie),
      tries: 0,
    };
    await this.#transactions.set(hashOf(id), transaction, TRANSACTION_MS);
    const secure = this.#deps.issuer().startsWith('https:') ? '; Secure' : '';
    const header = `${COOKIE}=${cookie}; Path=/oauth; HttpOnly; SameSite=Strict; Max-Age=${TRANSACTION_MS / 1000}${secure}`;
    return this.#page(id, transaction, { headers: ['Set-Cookie', header] });
  }

  async decide(request: WebRequest): Promise<WebReply> {
    const form = new URLSearchParams(request.body);
    const id = form.get('transaction') ?? '';
    const transaction = await this.#transactions.get(hashOf(id));
    if (!this.#isOwnPage(request) || transaction === undefined || !hasCookie(request, transaction.cookie))
      return problemPage(403, TOO_OLD);
    const { redirect, state, asked } = transaction;
    if (form.get('decision') !== 'allow') {
      await this.#transactions.take(hashOf(id));
      return this.#back(redirect, { error: 'access_denied', state });
    }
    const key = this.#deps.ring.find((form.get('key') ?? '').trim());
    if (key === undefined) return this.#wrongKey(id, transaction);
    // Whoever took it at another gateway at the same moment was answered there.
    if ((await this.#transactions.take(hashOf(id))) === undefined) return problemPage(403, TOO_OLD);
    this.#deps.ring.noteUse(key.id);
    await this.#deps.clients.noteConsent(asked.id);
    const { client, challenge, resource } = transaction;
    const code = await this.#deps.keepCode({ client, redirect, challenge, resource, key: key.id });
    this.#deps.record({
      kind: 'sign-in',
      action: 'authorize',
      caller: callerOf(key),
      outcome: 'ok',
      details: { client: asked.id, name: asked.name },
    });
    return this.#back(redirect, { code, state });
  }

  async #wrongKey(id: string, transaction: Transaction): Promise<WebReply> {
    const tries = transaction.tries + 1;
    this.#deps.record({
      kind: 'sign-in',
      action: 'authorize',
      caller: { id: 'unknown', via: 'http', profile: 'default' },
      outcome: 'refused',
      code: 'CREDENTIALS_REFUSED',
      details: { client: transaction.client },
    });
    if (tries < MAX_TRIES) {
      await this.#transactions.set(hashOf(id), { ...transaction, tries }, TRANSACTION_MS);
      return this.#page(id, transaction, { status: 403, problem: 'This key is wrong, revoked or over.' });
    }
    await this.#transactions.take(hashOf(id));
    return this.#back(transaction.redirect, { error: 'access_denied', state: transaction.state });
  }

  #page(
    transaction: string,
    { asked, redirect, resource }: Transaction,
    more: { readonly status?: number; readonly problem?: string; readonly headers?: readonly string[] },
  ): WebReply {
    const { status = 200, problem, headers = [] } = more;
    const clientHost = /^https?:/.test(asked.id) ? new URL(asked.id).host : undefined;
    const where = `${this.#deps.issuer()}${resource === '' ? '/mcp' : resource}`;
    return consentPage(
      {
        ...{ transaction, clientName: asked.name, clientHost, redirect, resource: where },
        ...(problem !== undefined && { problem }),
      },
      status,
      headers,
    );
  }

  #back(redirect: string, parameters: Readonly<Record<string, string | undefined>>): WebReply {
    const location = redirectTo(redirect, { ...parameters, iss: this.#deps.issuer() });
    return {
      status: 302,
      headers: ['Location', location, 'Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer'],
      body: '',
    };
  }

  /** Browsers say where a form comes from, and let no page lie about it. */
  #isOwnPage({ origin, site, host, type }: WebRequest): boolean {
    const own = [this.#deps.issuer(), `http://${host}`];
    const isForm = type?.split(';')[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
    const isSameSite = site === undefined || site === 'same-origin' || site === 'none';
    return isForm && isSameSite && (origin === undefined || own.includes(origin));
  }
}

function hasCookie({ cookie = '' }: WebRequest, expected: string): boolean {
  const found = cookie.split(/; */).flatMap((pair) => {
    const [name, value = ''] = pair.split('=');
    return name === COOKIE ? [value] : [];
  });
  return found.some((value) => timingSafeEqual(Buffer.from(hashOf(value)), Buffer.from(expected)));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
