import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import type { AuthorizationServerConfig } from '../../../config/callers-config.ts';
import type { AuditEvent } from '../../../observe/audit/audit-record.ts';
import type { Logger } from '../../../observe/log.ts';
import type { Database } from '../../../storage/database.ts';
import { troubleOf } from '../../../storage/store-error.ts';
import type { KeyRing } from '../key-ring.ts';
import type { StoredKey } from '../key-store.ts';
import { admissionOf, callerOf } from '../keys.ts';
import { refused } from '../verdict.ts';
import type { Admission, Provider, Verdict } from '../verdict.ts';
import { jsonReply } from '../web.ts';
import type { WebReply, WebRequest } from '../web.ts';
import { Authorize } from './authorize.ts';
import type { Code } from './authorize.ts';
import { Clients } from './clients.ts';
import type { FetchDocument } from './clients.ts';
import { ACCESS_PREFIX, Grants } from './grants.ts';
import type { Tokens } from './grants.ts';
import type { Recognised, RecognisedTokens } from './recognised-tokens.ts';
import { coversPath, resourcePath } from './resource-path.ts';
import { openSteps } from './steps.ts';
import type { Steps } from './steps.ts';

export interface AuthorizationServerOptions {
  readonly config: AuthorizationServerConfig;
  /** Known once we listen. */
  readonly issuer: () => string;
  readonly ring: KeyRing;
  readonly recognised: RecognisedTokens;
  readonly database: () => Promise<Database>;
  /** Whether the next request of an authorization may come to another gateway. */
  readonly isShared: boolean;
  readonly fetchDocument: FetchDocument;
  readonly record: (event: AuditEvent) => void;
  readonly now: () => number;
  readonly log: Logger;
}

const SCOPE = 'mcp';
const CODE_MS = 60_000;
/** How long a code that was collected is remembered, so that a second time is noticed. */
const SPENT_MS = 600_000;
const MAX_CODES = 10_000;
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;
const METADATA = '/.well-known/oauth-authorization-server';

/** `auth.authorizationServer`: OAuth 2.1 for clients that insist on it; public clients with PKCE only. */
export class AuthorizationServer {
  readonly #options: AuthorizationServerOptions;
  readonly #clients: Clients;
  readonly #grants: Grants;
  readonly #authorize: Authorize;
  readonly #codes: Steps<Code>;
  readonly #spent: Steps<string>;
  /** Rules are looked up by the object, so that one key is one caller. */
  readonly #admissions = new WeakMap<StoredKey, Admission>();

  constructor(options: AuthorizationServerOptions) {
    const { ring, issuer, record, now, isShared } = options;
    const database = isShared ? options.database : undefined;
    this.#options = options;
    this.#clients = new Clients(options);
    this.#grants = new Grants(options);
    this.#codes = openSteps({ kind: 'code', max: MAX_CODES, now, database });
    this.#spent = openSteps({ kind: 'spent', max: MAX_CODES, now, database });
    const keepCode = async (code: Code): Promise<string> => {
      const text = randomBytes(32).toString('base64url');
      await this.#codes.set(hashOf(text), code, CODE_MS);
      return text;
    };
    this.#authorize = new Authorize({
      issuer,
      clients: this.#clients,
      ring,
      keepCode,
      record,
      now,
      database,
    });
  }

  /** Accepts the access tokens that we gave out, while the key of whoever agreed is good. */
  readonly provider: Provider = (asked, token) =>
    token === undefined || !token.startsWith(ACCESS_PREFIX) ? undefined : this.#verdict(token, asked.path);

  takes(path: string): boolean {
    return path === METADATA || path.startsWith('/oauth/');
  }

  async answer(request: WebRequest): Promise<WebReply> {
    const { method, path } = request;
    switch (`${method} ${path}`) {
      case `GET ${METADATA}`:
        return jsonReply(200, this.#metadata());
      case 'GET /oauth/authorize':
        return this.#authorize.begin(request);
      case 'POST /oauth/authorize':
        return this.#authorize.decide(request);
      case 'POST /oauth/token':
        return this.#token(request);
      case 'POST /oauth/revoke':
        return this.#revoke(request);
      case 'POST /oauth/register':
        return this.#options.config.registration ? this.#register(request) : notHere();
      default:
        return notHere();
    }
  }

  #metadata(): object {
    const issuer = this.#options.issuer();
    const { registration, metadataDocuments } = this.#options.config;
    return {
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      ...(registration && { registration_endpoint: `${issuer}/oauth/register` }),
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      scopes_supported: [SCOPE],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: metadataDocuments,
    };
  }

  #verdict(token: string, path: string): Verdict | Promise<Verdict> {
    const found = this.#grants.ofAccess(token);
    if (!(found instanceof Promise)) return this.#judged(found, path);
    return found.then(
      (later) => this.#judged(later, path),
      (error: unknown) => {
        if (troubleOf(error) === undefined) throw error;
        return refused('Tokens that are new here cannot be looked up now; try again in a moment.', {
          status: 503,
        });
      },
    );
  }

  #judged(found: Recognised | undefined, path: string): Verdict {
    const key = found && this.#options.ring.byId(found.grant.key);
    if (found === undefined || key === undefined)
      return refused('This token is wrong, revoked or over.', { error: 'invalid_token' });
    if (!coversPath(found.grant.resource, path))
      return refused('This token is for another resource.', { error: 'invalid_token' });
    this.#options.ring.noteUse(key.id);
    let admission = this.#admissions.get(key);
    if (admission === undefined) this.#admissions.set(key, (admission = admissionOf(key)));
    return { admission: { ...admission, until: Math.min(found.until, admission.until ?? Infinity) } };
  }

  async #register({ body, type }: WebRequest): Promise<WebReply> {
    if (type?.split(';')[0]?.trim().toLowerCase() !== 'application/json')
      return problem('invalid_client_metadata', 'The Content-Type must be application/json.');
    const client = await this.#clients.register(parsed(body));
    if (client === undefined)
      return jsonReply(429, { error: 'temporarily_unavailable' }, ['Retry-After', '60']);
    if (typeof client === 'string')
      return problem(
        client.includes('redirect_uris') ? 'invalid_redirect_uri' : 'invalid_client_metadata',
        client,
      );
    this.#options.log.info('A client registered itself.', { client: client.id, name: client.name });
    return jsonReply(201, {
      client_id: client.id,
      client_id_issued_at: Math.floor(this.#options.now() / 1000),
      ...(client.name !== '' && { client_name: client.name }),
      redirect_uris: client.redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: SCOPE,
    });
  }

  async #token(request: WebRequest): Promise<WebReply> {
    const form = new URLSearchParams(request.body);
    if ([...new Set(form.keys())].some((name) => form.getAll(name).length > 1))
      return problem('invalid_request', 'A parameter is there more than once.');
    switch (form.get('grant_type')) {
      case 'authorization_code':
        return this.#collect(form, request);
      case 'refresh_token':
        return this.#refresh(form);
      default:
        return problem('unsupported_grant_type', 'Only authorization_code and refresh_token are possible.');
    }
  }

  async #collect(form: URLSearchParams, { host }: WebRequest): Promise<WebReply> {
    const id = hashOf(form.get('code') ?? '');
    const spentBy = await this.#spent.get(id);
    if (spentBy !== undefined) {
      // Somebody else has it, too, and one of the two has stolen it.
      this.#options.log.warn('A code came twice; what it gave access to is revoked.');
      await this.#grants.end(spentBy);
    }
    const code = await this.#codes.take(id);
    const wrong = problem('invalid_grant', 'This code is wrong, over or used.');
    if (code === undefined || code.client !== form.get('client_id')) return wrong;
    if ((form.get('redirect_uri') ?? code.redirect) !== code.redirect) return wrong;
    const verifier = form.get('code_verifier') ?? '';
    if (!VERIFIER.test(verifier) || !isVerified(verifier, code.challenge)) return wrong;
    const asked = form.get('resource');
    const resource =
      asked === null ? code.resource : resourcePath(asked, { issuer: this.#options.issuer(), host });
    if (
      resource === undefined ||
      (resource !== code.resource && !(code.resource !== '' ? coversPath(code.resource, resource) : true))
    )
      return problem('invalid_target', 'The code is for another resource.');
    if (this.#options.ring.byId(code.key) === undefined) return wrong;
    const { grant, tokens } = await this.#grants.add({ client: code.client, key: code.key, resource });
    await this.#spent.set(id, grant.id, SPENT_MS);
    return tokenReply(tokens);
  }

  async #refresh(form: URLSearchParams): Promise<WebReply> {
    const result = await this.#grants.refresh(form.get('refresh_token') ?? '', form.get('client_id') ?? '');
    if (result === 'unknown') return problem('invalid_grant', 'This token is wrong, over or revoked.');
    if (!('reused' in result)) return tokenReply(result);
    const key = this.#options.ring.byId(result.reused.key);
    this.#options.log.warn('A refresh token came twice; its whole family is revoked.', {
      client: result.reused.client,
    });
    this.#options.record({
      kind: 'sign-in',
      action: 'revoke',
      caller: key === undefined ? { id: 'unknown', via: 'http', profile: 'default' } : callerOf(key),
      outcome: 'refused',
      code: 'CREDENTIALS_REFUSED',
      details: { client: result.reused.client, reason: 'A refresh token came twice.' },
    });
    return problem('invalid_grant', 'This token is wrong, over or revoked.');
  }

  async #revoke({ body }: WebRequest): Promise<WebReply> {
    const form = new URLSearchParams(body);
    await this.#grants.revoke(form.get('token') ?? '', form.get('client_id') ?? '');
    return jsonReply(200, {});
  }
}

function tokenReply({ access, refresh, expiresInSeconds }: Tokens): WebReply {
  return jsonReply(200, {
    access_token: access,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    refresh_token: refresh,
    scope: SCOPE,
  });
}

function isVerified(verifier: string, challenge: string): boolean {
  const made = createHash('sha256').update(verifier).digest();
  const expected = Buffer.from(challenge, 'base64url');
  return made.length === expected.length && timingSafeEqual(made, expected);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problem(error: string, description: string): WebReply {
  return jsonReply(400, { error, error_description: description });
}

function notHere(): WebReply {
  return jsonReply(404, { error: 'not_found', error_description: 'There is nothing here.' });
}
