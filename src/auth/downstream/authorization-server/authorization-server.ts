import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import type { AuthorizationServerConfig } from '../../../config/callers-config.ts';
import type { Database } from '../../../core/storage/database.ts';
import { storeProblemOf } from '../../../core/storage/store-error.ts';
import type { AuditEvent } from '../../../observability/audit/audit-record.ts';
import type { Logger } from '../../../observability/log.ts';
import { rejectAuth } from '../auth-result.ts';
import type { AuthProvider, AuthResult, AuthenticatedCaller } from '../auth-result.ts';
import type { KeyCache } from '../key-cache.ts';
import { authenticateKey, callerForKey } from '../key-provider.ts';
import type { StoredKey } from '../key-store.ts';
import { jsonWebResponse } from '../web-request.ts';
import type { WebRequest, WebResponse } from '../web-request.ts';
import type { AccessTokenCache, VerifiedAccessToken } from './access-token-cache.ts';
import { AuthorizationEndpoint } from './authorization-endpoint.ts';
import type { AuthorizationCode } from './authorization-endpoint.ts';
import { ClientRegistry } from './client-registry.ts';
import type { FetchDocument } from './client-registry.ts';
import { openFlowStateStore } from './flow-state-store.ts';
import type { FlowStateStore } from './flow-state-store.ts';
import { ACCESS_PREFIX, GrantStore } from './grant-store.ts';
import type { IssuedTokens } from './grant-store.ts';
import { coversPath, resolveResourcePath } from './resource-path.ts';

interface AuthorizationServerOptions {
  readonly config: AuthorizationServerConfig;
  /** A function, because the address is known only once the gateway listens. */
  readonly issuer: () => string;
  readonly keyCache: KeyCache;
  readonly accessTokens: AccessTokenCache;
  readonly database: () => Promise<Database>;
  /** Whether other replicas may receive the next request of an authorization. */
  readonly isShared: boolean;
  readonly fetchDocument: FetchDocument;
  readonly record: (event: AuditEvent) => void;
  readonly now: () => number;
  readonly log: Logger;
}

/** The only scope; the rights of a token are those of the key behind its grant. */
const SCOPE = 'mcp';
/** Lifetime of an authorization code. */
const CODE_MS = 60_000;
/** Time for which a used code is remembered in order to detect a second use. */
const USED_CODE_MS = 600_000;
const MAX_CODES = 10_000;
/** The form of a PKCE code verifier (RFC 7636, section 4.1). */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;
const METADATA = '/.well-known/oauth-authorization-server';

/** Implements `auth.authorizationServer`: OAuth 2.1 for clients that require it. Only public clients with PKCE are supported. */
export class AuthorizationServer {
  readonly #options: AuthorizationServerOptions;
  readonly #clients: ClientRegistry;
  readonly #grants: GrantStore;
  readonly #authorizationEndpoint: AuthorizationEndpoint;
  readonly #codes: FlowStateStore<AuthorizationCode>;
  /** Maps each used code to the id of its grant. */
  readonly #usedCodes: FlowStateStore<string>;
  /** Maps each key to its only caller object, because policy rules are cached by the identity of that object. */
  readonly #callers = new WeakMap<StoredKey, AuthenticatedCaller>();

  constructor(options: AuthorizationServerOptions) {
    const { keyCache, issuer, record, now, isShared } = options;
    const database = isShared ? options.database : undefined;
    this.#options = options;
    this.#clients = new ClientRegistry(options);
    this.#grants = new GrantStore(options);
    this.#codes = openFlowStateStore({ kind: 'code', max: MAX_CODES, now, database });
    this.#usedCodes = openFlowStateStore({ kind: 'spent', max: MAX_CODES, now, database });
    this.#authorizationEndpoint = new AuthorizationEndpoint({
      issuer,
      clients: this.#clients,
      keyCache,
      issueCode: (code) => this.#issueCode(code),
      record,
      now,
      database,
    });
  }

  /** Accepts access tokens of this server while the key behind their grant is valid. Leaves other tokens to other providers. */
  readonly provider: AuthProvider = (request, token) =>
    token === undefined || !token.startsWith(ACCESS_PREFIX)
      ? undefined
      : this.#authenticate(token, request.path);

  /** Whether this server answers requests at the path. */
  canHandle(path: string): boolean {
    return path === METADATA || path.startsWith('/oauth/');
  }

  async answer(request: WebRequest): Promise<WebResponse> {
    const { method, path } = request;
    switch (`${method} ${path}`) {
      case `GET ${METADATA}`:
        return jsonWebResponse(200, this.#metadata());
      case 'GET /oauth/authorize':
        return this.#authorizationEndpoint.showConsentPage(request);
      case 'POST /oauth/authorize':
        return this.#authorizationEndpoint.handleDecision(request);
      case 'POST /oauth/token':
        return this.#issueTokens(request);
      case 'POST /oauth/revoke':
        return this.#revoke(request);
      case 'POST /oauth/register':
        return this.#options.config.registration ? this.#register(request) : notFound();
      default:
        return notFound();
    }
  }

  #authenticate(token: string, path: string): AuthResult | Promise<AuthResult> {
    const verified = this.#grants.verifyAccessToken(token);
    if (!(verified instanceof Promise)) return this.#authenticateVerified(verified, path);
    return verified.then(
      (result) => this.#authenticateVerified(result, path),
      (error: unknown) => {
        if (storeProblemOf(error) === undefined) throw error;
        return rejectAuth('The database is unavailable, so this token cannot be verified; try again.', {
          status: 503,
        });
      },
    );
  }

  #authenticateVerified(token: VerifiedAccessToken | undefined, path: string): AuthResult {
    const { keyCache } = this.#options;
    const key = token && keyCache.findById(token.grant.key);
    if (token === undefined || key === undefined)
      return rejectAuth('This token is wrong, revoked or expired.', { error: 'invalid_token' });
    if (!coversPath(token.grant.resource, path))
      return rejectAuth('This token is for another resource.', { error: 'invalid_token' });
    keyCache.recordUse(key.id);
    let authenticated = this.#callers.get(key);
    if (authenticated === undefined) this.#callers.set(key, (authenticated = authenticateKey(key)));
    const expiresAt = Math.min(token.expiresAt, authenticated.expiresAt ?? Infinity);
    return { authenticated: { ...authenticated, expiresAt } };
  }

  #metadata(): object {
    const issuer = this.#options.issuer();
    const { registration, metadataDocuments } = this.#options.config;
    return {
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      registration_endpoint: registration ? `${issuer}/oauth/register` : undefined,
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

  async #issueCode(code: AuthorizationCode): Promise<string> {
    const text = randomBytes(32).toString('base64url');
    await this.#codes.set(hashText(text), code, CODE_MS);
    return text;
  }

  async #issueTokens(request: WebRequest): Promise<WebResponse> {
    const form = new URLSearchParams(request.body);
    if ([...new Set(form.keys())].some((name) => form.getAll(name).length > 1))
      return oauthError('invalid_request', 'A parameter is repeated.');
    switch (form.get('grant_type')) {
      case 'authorization_code':
        return this.#redeemCode(form, request);
      case 'refresh_token':
        return this.#refresh(form);
      default:
        return oauthError(
          'unsupported_grant_type',
          'Only authorization_code and refresh_token are supported.',
        );
    }
  }

  async #redeemCode(form: URLSearchParams, { host }: WebRequest): Promise<WebResponse> {
    const id = hashText(form.get('code') ?? '');
    const usedFor = await this.#usedCodes.get(id);
    if (usedFor !== undefined) {
      // Two parties have the code, so one of them may have stolen it (RFC 6749, section 4.1.2).
      this.#options.log.warn('An authorization code was used twice; its grant is revoked.');
      await this.#grants.removeGrant(usedFor);
    }
    const code = await this.#codes.take(id);
    const invalidCode = oauthError('invalid_grant', 'This code is wrong, expired or already used.');
    if (code === undefined || code.client !== form.get('client_id')) return invalidCode;
    if ((form.get('redirect_uri') ?? code.redirect) !== code.redirect) return invalidCode;
    const verifier = form.get('code_verifier') ?? '';
    if (!VERIFIER.test(verifier) || !isVerifierFor(verifier, code.challenge)) return invalidCode;
    const requested = form.get('resource');
    const resource =
      requested === null
        ? code.resource
        : resolveResourcePath(requested, { issuer: this.#options.issuer(), host });
    // The token request may narrow the resource of the code, but must not widen it. An empty resource covers all paths.
    if (
      resource === undefined ||
      (resource !== code.resource && !(code.resource !== '' ? coversPath(code.resource, resource) : true))
    )
      return oauthError('invalid_target', 'The code is for another resource.');
    if (this.#options.keyCache.findById(code.key) === undefined) return invalidCode;
    const { grant, tokens } = await this.#grants.add({ client: code.client, key: code.key, resource });
    await this.#usedCodes.set(id, grant.id, USED_CODE_MS);
    return tokenResponse(tokens);
  }

  async #refresh(form: URLSearchParams): Promise<WebResponse> {
    const result = await this.#grants.refresh(form.get('refresh_token') ?? '', form.get('client_id') ?? '');
    const invalidToken = oauthError('invalid_grant', 'This token is wrong, expired or revoked.');
    if (result === 'unknown') return invalidToken;
    if (!('reused' in result)) return tokenResponse(result);
    const { log, record, keyCache } = this.#options;
    const { client, key: keyId } = result.reused;
    const key = keyCache.findById(keyId);
    log.warn('A refresh token was used twice; its grant is revoked.', { client });
    record({
      kind: 'sign-in',
      action: 'revoke',
      caller: key === undefined ? { id: 'unknown', via: 'http', profile: 'default' } : callerForKey(key),
      outcome: 'refused',
      code: 'CREDENTIALS_REFUSED',
      details: { client, reason: 'A refresh token was used twice.' },
    });
    return invalidToken;
  }

  async #revoke({ body }: WebRequest): Promise<WebResponse> {
    const form = new URLSearchParams(body);
    await this.#grants.revoke(form.get('token') ?? '', form.get('client_id') ?? '');
    return jsonWebResponse(200, {});
  }

  async #register({ body, type }: WebRequest): Promise<WebResponse> {
    if (type?.split(';')[0]?.trim().toLowerCase() !== 'application/json')
      return oauthError('invalid_client_metadata', 'The Content-Type must be application/json.');
    const client = await this.#clients.register(parseJson(body));
    if (client === undefined)
      return jsonWebResponse(429, { error: 'temporarily_unavailable' }, ['Retry-After', '60']);
    if ('error' in client) return oauthError(client.error, client.description);
    this.#options.log.info('A client registered.', { client: client.id, name: client.name });
    return jsonWebResponse(201, {
      client_id: client.id,
      client_id_issued_at: Math.floor(this.#options.now() / 1000),
      client_name: client.name === '' ? undefined : client.name,
      redirect_uris: client.redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: SCOPE,
    });
  }
}

function tokenResponse({ access, refresh, expiresInSeconds }: IssuedTokens): WebResponse {
  return jsonWebResponse(200, {
    access_token: access,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    refresh_token: refresh,
    scope: SCOPE,
  });
}

/** Whether the verifier matches the PKCE challenge (method S256); compares in constant time. */
function isVerifierFor(verifier: string, challenge: string): boolean {
  const actual = createHash('sha256').update(verifier).digest();
  const expected = Buffer.from(challenge, 'base64url');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function oauthError(error: string, description: string): WebResponse {
  return jsonWebResponse(400, { error, error_description: description });
}

function notFound(): WebResponse {
  return jsonWebResponse(404, { error: 'not_found', error_description: 'There is nothing at this path.' });
}
