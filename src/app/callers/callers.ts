import type { KeyRights, KeyStore, StoredKey } from '../../auth/downstream/key-store.ts';
import type { RecognisedTokens } from '../../auth/downstream/authorization-server/recognised-tokens.ts';
import type { KeyRing } from '../../auth/downstream/key-ring.ts';
import type { CallersConfig } from '../../config/callers-config.ts';
import type { ConfigSnapshot, GatewayConfig } from '../../config/config.ts';
import type { Door } from '../../downstream/door/door.ts';
import { Emitter } from '../../lib/emitter.ts';
import type { Scope } from '../../lib/scope.ts';
import type { Caller } from '../../model/caller.ts';
import type { AuditTrail } from '../../observe/audit/audit-trail.ts';
import type { Logger } from '../../observe/log.ts';
import type { Store } from '../open-store.ts';

interface CallersDeps {
  readonly scope: Scope;
  readonly audit: AuditTrail;
  readonly log: Logger;
  readonly store: Store;
}

/** Who may call over HTTP: the keys, and the door that is made of the configuration. All of it is loaded when it is needed. */
export class Callers {
  readonly #config: () => ConfigSnapshot;
  readonly #deps: CallersDeps;
  readonly events = new Emitter<{ gone: string }>();
  #ring: KeyRing | undefined;
  #recognised: RecognisedTokens | undefined;

  constructor(config: () => ConfigSnapshot, deps: CallersDeps) {
    this.#config = config;
    this.#deps = deps;
  }

  /** The door that a configuration asks for; `issuer` is where it turns out to listen. Undefined where nobody is asked. */
  async door({ auth, http }: GatewayConfig, issuer: () => string): Promise<Omit<Door, 'admin'> | undefined> {
    if (auth === undefined) return undefined;
    const [{ authenticate }, { protectedResource }] = await Promise.all([
      import('../../auth/downstream/authenticate.ts'),
      import('../../auth/downstream/protected-resource.ts'),
    ]);
    const { providers, pages } = await this.#providers(auth, () => http.publicUrl ?? issuer());
    const issuers = (): readonly string[] => [
      ...(auth.jwt === undefined ? [] : [auth.jwt.issuer]),
      ...(pages === undefined ? [] : [http.publicUrl ?? issuer()]),
    ];
    const scopes = [...(auth.jwt?.scopes ?? []), ...(pages === undefined ? [] : ['mcp'])];
    return {
      authenticate: authenticate(providers, { hasProfile: (name) => this.hasProfile(name) }),
      resource: protectedResource({ publicUrl: http.publicUrl, issuers, scopes }),
      ...(pages && { pages }),
      onRefused: ({ message, count }) =>
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
    const made = await (await this.#store()).add(name, rights);
    await this.#ring?.refresh();
    const { profile = '', tier = '', groups, roles } = rights;
    const details = { profile, tier, groups, roles };
    this.#deps.audit.record({ kind: 'key', action: 'add', caller: by, entry: name, outcome: 'ok', details });
    return made;
  }

  async keys(): Promise<readonly StoredKey[]> {
    await this.#ring?.saveUse();
    return (await this.#store()).list();
  }

  async revokeKey(name: string, by: Caller): Promise<StoredKey | undefined> {
    const key = await (await this.#store()).revoke(name);
    await this.#ring?.refresh();
    if (key !== undefined)
      this.#deps.audit.record({ kind: 'key', action: 'revoke', caller: by, entry: name, outcome: 'ok' });
    return key;
  }

  async #providers(auth: CallersConfig, issuer: () => string) {
    const { log, audit } = this.#deps;
    const now = Date.now;
    const ring = auth.keys || auth.authorizationServer !== undefined ? await this.#openRing() : undefined;
    const providers = [];
    if (auth.keys && ring !== undefined)
      providers.push((await import('../../auth/downstream/keys.ts')).keys(ring));
    if (auth.forwarded !== undefined)
      providers.push((await import('../../auth/downstream/forwarded.ts')).forwarded(auth.forwarded));
    if (auth.jwt !== undefined) {
      const [{ jwt }, { issuerKeys }] = await Promise.all([
        import('../../auth/downstream/jwt.ts'),
        import('../../auth/downstream/issuer-keys.ts'),
      ]);
      providers.push(jwt(auth.jwt, { keysOf: issuerKeys({ ...auth.jwt, now }), now, log }));
    }
    if (auth.authorizationServer === undefined || ring === undefined) return { providers, pages: undefined };
    const { AuthorizationServer } =
      await import('../../auth/downstream/authorization-server/authorization-server.ts');
    const pages = new AuthorizationServer({
      ...{ config: auth.authorizationServer, issuer, ring, now, log },
      recognised: await this.#openRecognised(),
      database: this.#deps.store.database,
      isShared: this.#deps.store.place.server !== undefined,
      fetchDocument: await documentFetcher(auth.authorizationServer),
      record: (event) => audit.record(event),
    });
    return { providers: [...providers, pages.provider], pages };
  }

  async #openRing(): Promise<KeyRing> {
    const { KeyRing: Ring } = await import('../../auth/downstream/key-ring.ts');
    const { log, scope } = this.#deps;
    if (this.#ring !== undefined) return this.#ring;
    const { changes } = await this.#deps.store.database();
    const deps = { store: await this.#store(), changes, events: this.events, now: Date.now, log };
    return (this.#ring = scope.use(await Ring.open(deps)));
  }

  async #openRecognised(): Promise<RecognisedTokens> {
    const { RecognisedTokens: Tokens } =
      await import('../../auth/downstream/authorization-server/recognised-tokens.ts');
    const { log, scope, store } = this.#deps;
    if (this.#recognised !== undefined) return this.#recognised;
    const deps = { database: store.database, now: Date.now, log };
    return (this.#recognised = scope.use(await Tokens.open(deps)));
  }

  async #store(): Promise<KeyStore> {
    const { KeyStore: Keys } = await import('../../auth/downstream/key-store.ts');
    return new Keys({ database: this.#deps.store.database, now: Date.now });
  }
}

/** Public, so that who gives us an address of their own has no business in private networks; no name is looked up for it. */
const PUBLIC = new URL('https://192.0.2.1');

async function documentFetcher({ allowPrivate }: NonNullable<CallersConfig['authorizationServer']>) {
  const { guardedFetch } = await import('../../auth/upstream/oauth/guarded-fetch.ts');
  return guardedFetch({
    upstream: PUBLIC,
    allowPrivate,
    signal: new AbortController().signal,
    timeoutMs: 5000,
    maxBytes: 32 * 1024,
  });
}
