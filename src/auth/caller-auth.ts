import type { CallersConfig } from '../config/callers-config.ts';
import type { ConfigSnapshot, GatewayConfig } from '../config/config.ts';
import type { Caller } from '../core/caller.ts';
import { Emitter } from '../core/lib/emitter.ts';
import type { Scope } from '../core/lib/scope.ts';
import type { Database } from '../core/storage/database.ts';
import type { AuditTrail } from '../observability/audit/audit-trail.ts';
import type { Logger } from '../observability/log.ts';
import type { AuthProvider, Authenticator } from './downstream/auth-result.ts';
import type { AccessTokenCache } from './downstream/authorization-server/access-token-cache.ts';
import type { AuthorizationServer } from './downstream/authorization-server/authorization-server.ts';
import type { KeyCache } from './downstream/key-cache.ts';
import type { KeyRights, KeyStore, StoredKey } from './downstream/key-store.ts';
import type { ProtectedResource } from './downstream/protected-resource.ts';

interface CallerAuthDeps {
  readonly scope: Scope;
  readonly audit: AuditTrail;
  readonly log: Logger;
  readonly store: {
    readonly database: () => Promise<Database>;
    /** `server` is present if several gateways share the database. */
    readonly place: { readonly server?: unknown };
  };
}

/** The authentication that a configuration requires. */
interface CallerAuthentication {
  readonly authenticate: Authenticator;
  readonly resource: ProtectedResource;
  readonly pages: AuthorizationServer | undefined;
  readonly onAuthFailures: (failures: { readonly message: string; readonly count: number }) => void;
}

/** Manages the API keys of HTTP callers, and creates their authentication from the configuration. Loads its code on demand. */
export class CallerAuth {
  /** `gone` reports the id of a caller whose credentials were revoked. */
  readonly events = new Emitter<{ gone: string }>();
  readonly #config: () => ConfigSnapshot;
  readonly #deps: CallerAuthDeps;
  #keyCache: KeyCache | undefined;
  #accessTokens: AccessTokenCache | undefined;

  constructor(config: () => ConfigSnapshot, deps: CallerAuthDeps) {
    this.#config = config;
    this.#deps = deps;
  }

  /**
   * Creates the authentication for HTTP callers. Resolves with undefined if callers need no credentials. `listenUrl` returns the address on
   * which the gateway listens.
   */
  async createHttpAuth(
    { auth, http }: GatewayConfig,
    listenUrl: () => string,
  ): Promise<CallerAuthentication | undefined> {
    if (auth === undefined) return undefined;
    const [{ createAuthenticator }, { createProtectedResource }] = await Promise.all([
      import('./downstream/authenticate.ts'),
      import('./downstream/protected-resource.ts'),
    ]);
    const issuer = (): string => http.publicUrl ?? listenUrl();
    const { providers, pages } = await this.#createProviders(auth, issuer);
    const issuers = (): readonly string[] => [
      ...(auth.jwt === undefined ? [] : [auth.jwt.issuer]),
      ...(pages === undefined ? [] : [issuer()]),
    ];
    const scopes = [...(auth.jwt?.scopes ?? []), ...(pages === undefined ? [] : ['mcp'])];
    return {
      authenticate: createAuthenticator(providers, { hasProfile: (name) => this.hasProfile(name) }),
      resource: createProtectedResource({ publicUrl: http.publicUrl, issuers, scopes }),
      pages,
      onAuthFailures: ({ message, count }) =>
        this.#deps.audit.record({
          kind: 'sign-in',
          action: 'refuse',
          caller: { id: 'unknown', via: 'http', profile: 'default' },
          outcome: 'refused',
          code: 'CREDENTIALS_REFUSED',
          details: { reason: message, count },
        }),
    };
  }

  hasProfile(name: string): boolean {
    return name === 'default' || Object.hasOwn(this.#config().value.profiles, name);
  }

  async addKey(
    name: string,
    rights: KeyRights & { readonly expiresAt?: number },
    by: Caller,
  ): Promise<{ readonly text: string; readonly key: StoredKey }> {
    const added = await (await this.#keyStore()).add(name, rights);
    await this.#keyCache?.refresh();
    const { profile = '', tier = '', groups, roles } = rights;
    const details = { profile, tier, groups, roles };
    this.#deps.audit.record({ kind: 'key', action: 'add', caller: by, entry: name, outcome: 'ok', details });
    return added;
  }

  async keys(): Promise<readonly StoredKey[]> {
    await this.#keyCache?.saveLastUsed();
    return (await this.#keyStore()).list();
  }

  async revokeKey(name: string, by: Caller): Promise<StoredKey | undefined> {
    const key = await (await this.#keyStore()).revoke(name);
    await this.#keyCache?.refresh();
    if (key !== undefined)
      this.#deps.audit.record({ kind: 'key', action: 'revoke', caller: by, entry: name, outcome: 'ok' });
    return key;
  }

  async #createProviders(
    auth: CallersConfig,
    issuer: () => string,
  ): Promise<{
    readonly providers: readonly AuthProvider[];
    readonly pages: AuthorizationServer | undefined;
  }> {
    const now = Date.now;
    const needsKeys = auth.keys || auth.authorizationServer !== undefined;
    const keyCache = needsKeys ? await this.#openKeyCache() : undefined;
    const providers: AuthProvider[] = [];
    if (auth.keys && keyCache !== undefined)
      providers.push((await import('./downstream/key-provider.ts')).createKeyProvider(keyCache));
    if (auth.forwarded !== undefined) {
      const { createForwardedProvider } = await import('./downstream/forwarded-provider.ts');
      providers.push(createForwardedProvider(auth.forwarded));
    }
    if (auth.jwt !== undefined) {
      const [{ createJwtProvider }, { createIssuerKeySource }] = await Promise.all([
        import('./downstream/jwt-provider.ts'),
        import('./downstream/issuer-keys.ts'),
      ]);
      const keysOf = createIssuerKeySource({ ...auth.jwt, now });
      providers.push(createJwtProvider(auth.jwt, { keysOf, now, log: this.#deps.log }));
    }
    if (auth.authorizationServer === undefined || keyCache === undefined)
      return { providers, pages: undefined };
    const pages = await this.#openAuthorizationServer(auth.authorizationServer, issuer, keyCache);
    return { providers: [...providers, pages.provider], pages };
  }

  async #openAuthorizationServer(
    config: NonNullable<CallersConfig['authorizationServer']>,
    issuer: () => string,
    keyCache: KeyCache,
  ): Promise<AuthorizationServer> {
    const { log, audit, store } = this.#deps;
    const [module, accessTokens, fetchDocument] = await Promise.all([
      import('./downstream/authorization-server/authorization-server.ts'),
      this.#openAccessTokens(),
      createDocumentFetch(config),
    ]);
    return new module.AuthorizationServer({
      config,
      issuer,
      keyCache,
      accessTokens,
      database: store.database,
      isShared: store.place.server !== undefined,
      fetchDocument,
      record: (event) => audit.record(event),
      now: Date.now,
      log,
    });
  }

  async #openKeyCache(): Promise<KeyCache> {
    const module = await import('./downstream/key-cache.ts');
    if (this.#keyCache !== undefined) return this.#keyCache;
    const { log, scope, store } = this.#deps;
    const { changes } = await store.database();
    const deps = { store: await this.#keyStore(), changes, events: this.events, now: Date.now, log };
    return (this.#keyCache = scope.use(await module.KeyCache.open(deps)));
  }

  async #openAccessTokens(): Promise<AccessTokenCache> {
    const module = await import('./downstream/authorization-server/access-token-cache.ts');
    if (this.#accessTokens !== undefined) return this.#accessTokens;
    const { log, scope, store } = this.#deps;
    const deps = { database: store.database, now: Date.now, log };
    return (this.#accessTokens = scope.use(await module.AccessTokenCache.open(deps)));
  }

  async #keyStore(): Promise<KeyStore> {
    const module = await import('./downstream/key-store.ts');
    const { store, log } = this.#deps;
    return new module.KeyStore({ database: store.database, now: Date.now, log });
  }
}

/** An address that RFC 5737 reserves for documentation. It stands for a public upstream, so the guarded fetch refuses private addresses. */
const PUBLIC_ORIGIN = new URL('https://192.0.2.1');

/** Creates the fetch that reads client metadata documents, whose addresses clients choose. */
async function createDocumentFetch({ allowPrivate }: NonNullable<CallersConfig['authorizationServer']>) {
  const { createGuardedFetch } = await import('./upstream/oauth/guarded-fetch.ts');
  return createGuardedFetch({
    upstream: PUBLIC_ORIGIN,
    allowPrivate,
    signal: new AbortController().signal,
    timeoutMs: 5000,
    maxBytes: 32 * 1024,
  });
}
