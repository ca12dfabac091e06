import type { UpstreamConfig } from '../../config/config.ts';
import type { RunningPrograms } from '../../config/reference-command.ts';
import type { ReferenceReader } from '../../config/resolve-references.ts';
import { resolveAuth } from '../../config/resolve-auth.ts';
import { resolveTransport } from '../../config/resolve-transport.ts';
import type { Credentials, Refusal } from '../../core/credentials.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Logger } from '../../observability/log.ts';
import { mergeScopes, parseChallenge } from './oauth/challenge.ts';
import type { Challenge } from './oauth/challenge.ts';
import { sanitizeText } from '../../core/lib/sanitize-text.ts';
import { OAuthError, isGrantRejected } from './oauth/oauth-error.ts';
import { HeadersHelper } from './headers-helper.ts';
import { RefreshScheduler } from './refresh-scheduler.ts';
import type { SignInId } from './sign-in-id.ts';
import { formatLoginCommand, signInRequiredError } from './sign-in-required-error.ts';
import { SignInWatcher } from './sign-in-watcher.ts';
import { type StoredTokens, refreshTime } from './stored-tokens.ts';
import { readTokenSeed, tokenSeedVariable } from './token-import/token-seed.ts';
import type { TokenVault } from './token-vault.ts';

/**
 * Returns a function that creates the credentials of an HTTP upstream, or returns undefined for an upstream that needs none. The code of
 * the OAuth client is loaded when it is first needed.
 */
export function createCredentialsFactory(deps: {
  readonly vault: TokenVault;
  readonly reader: ReferenceReader;
  /** The environment of programs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the value of a variable that contains the first tokens of a server. */
  readonly readVariable: (name: string) => string | undefined;
  readonly home: string;
  readonly searchPath: () => Promise<string | undefined>;
  readonly running?: RunningPrograms | undefined;
  readonly now: () => number;
  readonly log: Logger;
}): (config: UpstreamConfig, caller: string) => Credentials | undefined {
  const { vault, reader, readVariable, now, log } = deps;
  return (config, caller) => {
    const { name: upstream, auth } = config;
    if (config.transport.kind !== 'http') return undefined;
    const resolveUrl = async (): Promise<string> => {
      const transport = await resolveTransport(config, reader);
      return transport.kind === 'http' ? transport.url : '';
    };
    const { headersHelper: helper } = config.transport;
    if (helper !== undefined) return new HeadersHelper({ ...deps, config, helper, url: resolveUrl });
    if (auth === undefined) return undefined;
    const signInId = { upstream, caller };
    const refresh: CredentialsDeps['refresh'] = async (stale, signal) => {
      const [{ refreshTokens }, { createGuardedFetch }] = await Promise.all([
        import('./refresh-tokens.ts'),
        import('./oauth/guarded-fetch.ts'),
      ]);
      const fetch = createGuardedFetch({ upstream: new URL(stale.url), allowPrivate: auth.allowPrivate });
      return refreshTokens(stale, { vault, signInId, fetch, now, log, signal });
    };
    const acquire: CredentialsDeps['acquire'] = async (challenge, rejectedToken, signal) => {
      const { signInWithClientCredentials } = await import('./client-credentials-sign-in.ts');
      const resolvedAuth = await resolveAuth({ name: upstream, auth }, reader);
      const target = { signInId, url: await resolveUrl(), auth: resolvedAuth, vault, now, signal };
      return signInWithClientCredentials(target, { challenge, rejectedToken });
    };
    const seed = caller === '' ? (readVariable(tokenSeedVariable(upstream)) ?? '') : '';
    return new UpstreamCredentials({
      signInId,
      vault,
      url: resolveUrl,
      seed: seed === '' ? undefined : (url) => readTokenSeed(upstream, { value: seed, url, now: now() }),
      refresh,
      acquire: auth.flow === 'client-credentials' ? acquire : undefined,
      now,
      log,
    });
  };
}

interface CredentialsDeps {
  readonly signInId: SignInId;
  readonly vault: TokenVault;
  /** Returns the address of the upstream, with references resolved. */
  readonly url: () => Promise<string>;
  /** Reads the tokens from the environment variable of this upstream; undefined if the variable is not set. */
  readonly seed: ((url: string) => StoredTokens | undefined) | undefined;
  readonly refresh: (stale: StoredTokens, signal: AbortSignal) => Promise<StoredTokens>;
  /** Gets tokens with client credentials; undefined if the configuration uses another flow. */
  readonly acquire:
    | ((
        challenge: Challenge | undefined,
        rejectedToken: string | undefined,
        signal: AbortSignal,
      ) => Promise<StoredTokens>)
    | undefined;
  readonly now: () => number;
  readonly log: Logger;
}

type HeaderRecord = Readonly<Record<string, string>>;

const NO_HEADERS: HeaderRecord = {};
const NEVER = Number.POSITIVE_INFINITY;
/** Maximum age of cached tokens if the vault has no change notifications; reading them again reveals a sign-out in another process. */
const RELOAD_MS = 2000;
/** Delay before the next attempt if a refresh fails while the token is still valid. */
const EARLY_RETRY_MS = 30_000;

/**
 * The tokens of one upstream, for one caller where callers sign in separately. `headers` supplies the token for a request and refreshes
 * it before it expires. `handleRefusal` handles a 401 or 403: it uses newer tokens of the vault, refreshes them, or asks for a sign-in.
 */
export class UpstreamCredentials implements Credentials {
  readonly #deps: CredentialsDeps;
  readonly #closing = new AbortController();
  readonly #scheduler: RefreshScheduler;
  readonly #watcher: SignInWatcher;
  #tokens: StoredTokens | undefined;
  #headers: HeaderRecord = NO_HEADERS;
  /** When the header last changed, by `performance.now()`. */
  #changedAt = 0;
  /** When the vault was last read, by `performance.now()`. */
  #loadedAt = 0;
  /** The revision of the vault when it was last read. */
  #vaultRevision: number | undefined;
  /** The read in progress, which concurrent requests share. */
  #loading: Promise<StoredTokens | undefined> | undefined;
  /** When `headers` starts to replace the token, by `now()`: before its expiry if there is a refresh token, otherwise at its expiry. */
  #refreshAt = NEVER;
  /** The token that was in use when a sign-in became necessary. */
  #rejectedToken: string | undefined;
  /** The token that a refresh after a 401 returned; if it is rejected as well, only a sign-in helps. */
  #lastRefreshedToken: string | undefined;
  #onSignedIn: () => unknown = () => {};

  constructor(deps: CredentialsDeps) {
    this.#deps = deps;
    this.#scheduler = new RefreshScheduler({
      refresh: async (stale) => this.#use(await deps.refresh(stale, this.#closing.signal)),
      isPermanent: isGrantRejected,
      now: deps.now,
      onTimer: () => this.#handleTimer(),
    });
    this.#watcher = new SignInWatcher({ ...deps, onSaved: () => this.#checkSignIn() });
  }

  /** Returns the headers synchronously while the token is valid, which is nearly always. */
  headers(): HeaderRecord | Promise<HeaderRecord> {
    const { now, vault, seed } = this.#deps;
    const tokens = this.#tokens;
    if (tokens === undefined) {
      if (!vault.isUsed && seed === undefined) return NO_HEADERS;
      return this.#load().then((loaded) => (loaded === undefined ? NO_HEADERS : this.headers()));
    }
    const { revision } = vault;
    if (revision === undefined) {
      if (performance.now() - this.#loadedAt > RELOAD_MS) return this.#reload();
    } else if (revision !== this.#vaultRevision) {
      this.#vaultRevision = revision;
      // The read is not awaited, because nearly all changes concern other sign-ins. A failed read keeps the known tokens.
      void this.#load().catch(() => undefined);
    }
    if (now() < this.#refreshAt) return this.#headers;
    if (tokens.expiresAt !== undefined && now() >= tokens.expiresAt) return this.#replaceExpired();
    // The token is still valid, so the request does not wait for the refresh.
    this.#scheduler.refresh(tokens).catch((error: unknown) => this.#handleEarlyFailure(tokens, error));
    return this.#headers;
  }

  /** Handles a request that the server refused with 401 or 403. */
  async handleRefusal(refusal: Refusal): Promise<'try-again' | GatewayError> {
    const challenge = parseChallenge(refusal.challenge);
    try {
      if (refusal.status === 403) return await this.#handleForbidden(refusal, challenge);
      // The token changed after the request had started, so the server may accept the new one.
      if (this.#changedAt > refusal.since && !refusal.isRepeated) return 'try-again';
      return await this.#handleUnauthorized(refusal, challenge);
    } catch (error) {
      return this.#toError(error);
    }
  }

  onSignedIn(listener: () => unknown): void {
    this.#onSignedIn = listener;
  }

  [Symbol.dispose](): void {
    this.#watcher[Symbol.dispose]();
    this.#scheduler[Symbol.dispose]();
    this.#closing.abort(new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.'));
  }

  async #handleUnauthorized(refusal: Refusal, challenge: Challenge): Promise<'try-again' | GatewayError> {
    const known = this.#tokens;
    if (!refusal.isRepeated) {
      // Another process may have refreshed the token, or a person may have just signed in.
      const saved = await this.#load();
      if (saved !== undefined && saved.accessToken !== known?.accessToken) return 'try-again';
      if (saved?.refreshToken !== undefined) return this.#refreshAfterRefusal(saved);
      if (await this.#acquire(challenge, known?.accessToken)) return 'try-again';
    } else if (known?.refreshToken !== undefined && known.accessToken !== this.#lastRefreshedToken) {
      // The server also rejected the newer tokens that another process had saved. They may have expired even if the local clock, which may
      // have been set back, says otherwise.
      if (!refusal.isLast) return this.#refreshAfterRefusal(known);
    }
    const detail = challenge.errorDescription ?? challenge.error;
    const reason = `The server no longer accepts the saved token${detail === undefined ? '' : `: ${sanitizeText(detail)}`}`;
    return this.#requireSignIn({ challenge, reason: known && reason, prefersNotedReason: true });
  }

  async #refreshAfterRefusal(stale: StoredTokens): Promise<'try-again'> {
    this.#lastRefreshedToken = (await this.#scheduler.refresh(stale)).accessToken;
    return 'try-again';
  }

  /** Handles a 403. If a scope is missing, the connection stays usable, and a note makes the next sign-in request that scope. */
  async #handleForbidden(refusal: Refusal, challenge: Challenge): Promise<GatewayError> {
    const { signInId, vault } = this.#deps;
    const { upstream } = signInId;
    if (challenge.error !== 'insufficient_scope') {
      const body = sanitizeText(refusal.body).slice(0, 200);
      const text = `Server "${upstream}" rejected the credentials (HTTP 403)${body === '' ? '' : `: ${body}`}`;
      return new GatewayError('UPSTREAM_NEEDS_AUTH', text, { details: { upstream } });
    }
    const note = await vault.loadNote(signInId);
    await vault.saveNote(signInId, {
      ...note,
      more: mergeScopes(note?.more, challenge.scope),
      resourceMetadata: challenge.resourceMetadata ?? note?.resourceMetadata,
    });
    this.#watchForSignIn();
    const missing =
      challenge.scope === undefined
        ? 'more rights than were granted'
        : `the scope "${sanitizeText(challenge.scope)}"`;
    return signInRequiredError(signInId, {
      reason: `The call needs ${missing}, which the next sign-in requests`,
    });
  }

  /** Saves a note for the next sign-in, starts to watch for that sign-in, and returns the error that asks for it. */
  async #requireSignIn(options: {
    readonly challenge?: Challenge;
    readonly reason: string | undefined;
    /** Whether the problem in an earlier note replaces `reason`, because it says more, for example why the grant was rejected. */
    readonly prefersNotedReason?: boolean;
  }): Promise<GatewayError> {
    const { signInId, vault, log } = this.#deps;
    const { scope, resourceMetadata } = options.challenge ?? {};
    let { reason } = options;
    try {
      const note = await vault.loadNote(signInId);
      if (options.prefersNotedReason === true) reason = note?.problem ?? reason;
      await vault.saveNote(signInId, {
        ...note,
        scope: scope ?? note?.scope,
        resourceMetadata: resourceMetadata ?? note?.resourceMetadata,
        problem: reason ?? note?.problem,
      });
    } catch (error) {
      log.warn('The challenge of a server cannot be saved.', {
        upstream: signInId.upstream,
        reason: String(error),
      });
    }
    this.#watchForSignIn();
    return signInRequiredError(signInId, { reason });
  }

  /** Converts a failed refresh into the error of the request. Only a rejected grant needs a sign-in; other failures may be temporary. */
  async #toError(error: unknown): Promise<GatewayError> {
    const { upstream } = this.#deps.signInId;
    if (isGrantRejected(error)) return this.#requireSignIn({ reason: error.message });
    if (error instanceof GatewayError && error.code !== 'SIGN_IN_FAILED') return error;
    const text = `The token for server "${upstream}" cannot be refreshed now and is kept. ${messageOf(error)}`;
    return new GatewayError('UPSTREAM_UNAVAILABLE', text, { cause: error, details: { upstream } });
  }

  /** Replaces an expired token before the request is sent. */
  async #replaceExpired(): Promise<HeaderRecord> {
    const tokens = this.#tokens;
    if (tokens === undefined) return NO_HEADERS;
    try {
      if (tokens.refreshToken === undefined) await this.#replaceWithoutRefresh(tokens);
      else await this.#scheduler.refresh(tokens);
      return this.#headers;
    } catch (error) {
      if (!isGrantRejected(error)) this.#scheduler.scheduleRetry();
      throw await this.#toError(error);
    }
  }

  /** Replaces an expired token that has no refresh token: with the tokens of a newer sign-in, or with client credentials. */
  async #replaceWithoutRefresh(expired: StoredTokens): Promise<void> {
    const saved = await this.#load();
    if (saved !== undefined && saved.accessToken !== expired.accessToken) return;
    if (await this.#acquire(undefined, expired.accessToken)) return;
    // `invalid_grant` makes `#toError` ask for a sign-in.
    throw new OAuthError('The token has expired', { error: 'invalid_grant' });
  }

  /**
   * Gets tokens with client credentials. Resolves with false if the configuration uses another flow. If the authorization server refuses,
   * rejects with an error that asks for a sign-in, because a person must correct the credentials.
   */
  async #acquire(challenge: Challenge | undefined, rejectedToken: string | undefined): Promise<boolean> {
    const { acquire, signInId } = this.#deps;
    if (acquire === undefined) return false;
    try {
      this.#use(await acquire(challenge, rejectedToken, this.#closing.signal));
      return true;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'SIGN_IN_FAILED') throw error;
      this.#watchForSignIn();
      throw signInRequiredError(signInId, { reason: error.message.replace(/\.$/, ''), cause: error });
    }
  }

  /** Handles the refresh timer, which may fire a millisecond before `now` reaches `#refreshAt`. */
  async #handleTimer(): Promise<void> {
    if (this.#deps.now() < this.#refreshAt) this.#scheduleRefresh();
    else await this.headers();
  }

  #scheduleRefresh(): void {
    if (this.#tokens?.refreshToken === undefined || this.#refreshAt === NEVER) this.#scheduler.cancel();
    else this.#scheduler.schedule(this.#refreshAt - this.#deps.now());
  }

  /** Handles a failed refresh of a token that is still valid. The log entry announces a necessary sign-in before the token expires. */
  #handleEarlyFailure(tokens: StoredTokens, error: unknown): void {
    if (this.#closing.signal.aborted) return;
    const { signInId, log, now } = this.#deps;
    const needsSignIn = isGrantRejected(error);
    const expiresAt = tokens.expiresAt ?? NEVER;
    this.#refreshAt = needsSignIn ? expiresAt : Math.min(now() + EARLY_RETRY_MS, expiresAt);
    if (needsSignIn) this.#watchForSignIn();
    else this.#scheduleRefresh();
    log.warn('A token could not be refreshed.', {
      upstream: signInId.upstream,
      reason: messageOf(error),
      advice: needsSignIn ? formatLoginCommand(signInId) : undefined,
    });
  }

  /** Reads the vault again, because another process may have signed out or changed the account. A failed read keeps the known tokens. */
  async #reload(): Promise<HeaderRecord> {
    this.#loadedAt = performance.now();
    await this.#load().catch(() => undefined);
    return this.#tokens === undefined ? NO_HEADERS : this.headers();
  }

  #load(): Promise<StoredTokens | undefined> {
    this.#loading ??= this.#readVault().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #readVault(): Promise<StoredTokens | undefined> {
    const { vault, signInId, seed } = this.#deps;
    this.#loadedAt = performance.now();
    this.#vaultRevision = vault.revision;
    const url = await this.#deps.url();
    const saved = await vault.load(signInId);
    const seeded = seed?.(url);
    const isSeedChanged = seeded !== undefined && saved?.flow === 'seed' && saved.seed !== seeded.seed;
    const tokens = saved === undefined || isSeedChanged ? seeded : saved;
    // The entry may have changed since the sign-in, and a token must not be sent to another address than the one it was issued for.
    if (tokens !== undefined && tokens.url === url) return this.#use(tokens);
    this.#tokens = undefined;
    return undefined;
  }

  #use(tokens: StoredTokens): StoredTokens {
    const authorization = `Bearer ${tokens.accessToken}`;
    const previous = this.#headers['Authorization'];
    if (previous !== authorization) this.#headers = { Authorization: authorization };
    // The first token does not count as a change: the request that loaded it was sent with it, so a refusal applies to this token.
    if (previous !== undefined && previous !== authorization) this.#changedAt = performance.now();
    this.#tokens = tokens;
    this.#refreshAt = (tokens.refreshToken === undefined ? tokens.expiresAt : refreshTime(tokens)) ?? NEVER;
    this.#scheduleRefresh();
    return tokens;
  }

  #watchForSignIn(): void {
    this.#rejectedToken = this.#tokens?.accessToken;
    this.#watcher.start();
  }

  /** Called after tokens were saved; resolves with true if they come from a new sign-in. */
  async #checkSignIn(): Promise<boolean> {
    const saved = await this.#load();
    if (saved === undefined || saved.accessToken === this.#rejectedToken) return false;
    this.#onSignedIn();
    return true;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
