import type { Credentials, Refusal } from '../../model/credentials.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Logger } from '../../observe/log.ts';
import { loginCommand, needsSignIn } from './needs-sign-in.ts';
import { parseChallenge, scopeUnion } from './oauth/challenge.ts';
import type { Challenge } from './oauth/challenge.ts';
import { OAuthError, isOver, plain } from './oauth/oauth-error.ts';
import { Renewal } from './keeping/renewal.ts';
import { SignInWatch } from './keeping/sign-in-watch.ts';
import { type StoredTokens, renewalTime, withoutUndefined } from './stored-tokens.ts';
import type { Place } from './place.ts';
import type { TokenVault } from './token-vault.ts';

export interface CredentialsDeps {
  readonly place: Place;
  readonly vault: TokenVault;
  /** The address of the upstream, with references revealed. */
  readonly url: () => Promise<string>;
  /** Tokens from the environment; undefined where there are none. */
  readonly seed: ((url: string) => StoredTokens | undefined) | undefined;
  readonly renew: (stale: StoredTokens, signal: AbortSignal) => Promise<StoredTokens>;
  /** Gets tokens without a person, where the configuration allows it. */
  readonly acquire:
    | ((
        challenge: Challenge | undefined,
        not: string | undefined,
        signal: AbortSignal,
      ) => Promise<StoredTokens>)
    | undefined;
  readonly now: () => number;
  readonly log: Logger;
}

type HeaderRecord = Readonly<Record<string, string>>;

const NOTHING: HeaderRecord = {};
const NEVER = Number.POSITIVE_INFINITY;
/** How soon a sign-out elsewhere is noticed. */
const LOOK_AGAIN_MS = 2000;
/** After a failed renewal before its time. */
const RENEW_AGAIN_MS = 30_000;

/** The tokens of one upstream, for one caller where that matters: loaded when first needed, renewed before they expire. */
export class UpstreamCredentials implements Credentials {
  readonly #deps: CredentialsDeps;
  readonly #closing = new AbortController();
  #tokens: StoredTokens | undefined;
  #headers: HeaderRecord = NOTHING;
  #changedAt = 0;
  #lookedAt = 0;
  #edition: number | undefined;
  #loading: Promise<StoredTokens | undefined> | undefined;
  #renewAt = NEVER;
  readonly #renewal: Renewal;
  readonly #watching: SignInWatch;
  #refusedToken: string | undefined;
  /** After a refusal: if that is refused, too, only a person can help. */
  #renewedTo: string | undefined;
  #onSignedIn: () => unknown = () => {};

  constructor(deps: CredentialsDeps) {
    this.#deps = deps;
    this.#renewal = new Renewal({
      renew: async (stale) => this.#take(await deps.renew(stale, this.#closing.signal)),
      isOver,
      now: deps.now,
      wake: async () => this.headers(),
    });
    this.#watching = new SignInWatch({ ...deps, onSaved: () => this.#isSignedIn() });
  }

  /** At once while the token is good, which is nearly always. */
  headers(): HeaderRecord | Promise<HeaderRecord> {
    const { now, vault, seed } = this.#deps;
    const tokens = this.#tokens;
    if (tokens === undefined) {
      if (!vault.isUsed && seed === undefined) return NOTHING;
      return this.#load().then((loaded) => (loaded === undefined ? NOTHING : this.headers()));
    }
    const { edition } = vault;
    if (edition === undefined) {
      if (performance.now() - this.#lookedAt > LOOK_AGAIN_MS) return this.#lookAgain();
    } else if (edition !== this.#edition) {
      this.#edition = edition;
      // Nobody waits for a look at what is nearly always another place's; a vault that cannot be read now changes nothing.
      void this.#load().catch(() => undefined);
    }
    if (now() < this.#renewAt) return this.#headers;
    if (tokens.expiresAt !== undefined && now() >= tokens.expiresAt) return this.#whenRenewed();
    // Still good: nobody waits for the new one.
    this.#renewal.once(tokens).catch((error: unknown) => this.#notYet(tokens, error));
    return this.#headers;
  }

  /** Somebody may have signed out, or in as somebody else; a vault that cannot be read now changes nothing. */
  async #lookAgain(): Promise<HeaderRecord> {
    this.#lookedAt = performance.now();
    await this.#load().catch(() => undefined);
    return this.#tokens === undefined ? NOTHING : this.headers();
  }

  async refused(refusal: Refusal): Promise<'try-again' | GatewayError> {
    const challenge = parseChallenge(refusal.challenge);
    try {
      if (refusal.status === 403) return await this.#forbidden(refusal, challenge);
      if (this.#changedAt > refusal.since && !refusal.isRepeated) return 'try-again';
      return await this.#unauthorized(refusal, challenge);
    } catch (error) {
      return this.#explained(error);
    }
  }

  onSignedIn(listener: () => unknown): void {
    this.#onSignedIn = listener;
  }

  [Symbol.dispose](): void {
    this.#watching[Symbol.dispose]();
    this.#renewal[Symbol.dispose]();
    this.#closing.abort(new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.'));
  }

  async #unauthorized(refusal: Refusal, challenge: Challenge): Promise<'try-again' | GatewayError> {
    const known = this.#tokens;
    if (!refusal.isRepeated) {
      // Another process may have renewed it, or a person may have signed in a moment ago.
      const saved = await this.#load();
      if (saved !== undefined && saved.accessToken !== known?.accessToken) return 'try-again';
      if (saved?.refreshToken !== undefined) return this.#renewedFrom(saved);
      if (await this.#acquired(challenge, known?.accessToken)) return 'try-again';
    } else if (known?.refreshToken !== undefined && known.accessToken !== this.#renewedTo) {
      // What another process had saved is over as well, which a clock that was set does not tell.
      if (!refusal.isLast) return this.#renewedFrom(known);
    }
    const said = challenge.errorDescription ?? challenge.error;
    const refused = `It does not take the saved token any more${said === undefined ? '' : `: ${plain(said)}`}`;
    return this.#needsPerson({ challenge, why: known && refused, isGuess: true });
  }

  async #renewedFrom(stale: StoredTokens): Promise<'try-again'> {
    this.#renewedTo = (await this.#renewal.once(stale)).accessToken;
    return 'try-again';
  }

  /** More is needed than was granted: the connection is fine, and a person can grant more. */
  async #forbidden(refusal: Refusal, challenge: Challenge): Promise<GatewayError> {
    const { place, vault } = this.#deps;
    if (challenge.error !== 'insufficient_scope') {
      const said = plain(refusal.body).slice(0, 200);
      const text = `Server "${place.upstream}" refuses our credentials (HTTP 403)${said === '' ? '' : `: ${said}`}`;
      return new GatewayError('UPSTREAM_NEEDS_AUTH', text, { details: { upstream: place.upstream } });
    }
    const noted = await vault.noted(place);
    const more = scopeUnion(noted?.more, challenge.scope);
    await vault.note(place, {
      ...noted,
      ...withoutUndefined({ more, resourceMetadata: challenge.resourceMetadata }),
    });
    this.#watch();
    const wants =
      challenge.scope === undefined ? 'more than was granted' : `the scope "${plain(challenge.scope)}"`;
    return needsSignIn(place, { why: `This needs ${wants}, which the next sign-in asks for` });
  }

  async #needsPerson(options: {
    readonly challenge?: Challenge;
    readonly why: string | undefined;
    readonly isGuess?: boolean;
  }): Promise<GatewayError> {
    const { place, vault, log } = this.#deps;
    const { scope, resourceMetadata } = options.challenge ?? {};
    let problem = options.why;
    try {
      const noted = await vault.noted(place);
      // Why the grant died says more than that the token is not taken.
      if (options.isGuess === true) problem = noted?.problem ?? problem;
      await vault.note(place, { ...noted, ...withoutUndefined({ scope, resourceMetadata, problem }) });
    } catch (error) {
      log.warn('What a server asked for cannot be noted.', {
        upstream: place.upstream,
        reason: String(error),
      });
    }
    this.#watch();
    return needsSignIn(place, { why: problem });
  }

  /** Who waits for a renewal hears why it failed; only a dead grant needs a person. */
  async #explained(error: unknown): Promise<GatewayError> {
    const { upstream } = this.#deps.place;
    if (isOver(error)) return this.#needsPerson({ why: error.message });
    if (error instanceof GatewayError && error.code !== 'SIGN_IN_FAILED') return error;
    const text = `The token for server "${upstream}" cannot be renewed now and is kept. ${messageOf(error)}`;
    return new GatewayError('UPSTREAM_UNAVAILABLE', text, { cause: error, details: { upstream } });
  }

  async #whenRenewed(): Promise<HeaderRecord> {
    const tokens = this.#tokens;
    if (tokens === undefined) return NOTHING;
    try {
      if (tokens.refreshToken !== undefined) await this.#renewal.once(tokens);
      else await this.#replaceExpired(tokens);
      return this.#headers;
    } catch (error) {
      if (!isOver(error)) this.#renewal.wakeAgain();
      throw await this.#explained(error);
    }
  }

  /** Without a refresh token only another sign-in helps, or the way of machines. */
  async #replaceExpired(expired: StoredTokens): Promise<void> {
    const saved = await this.#load();
    if (saved !== undefined && saved.accessToken !== expired.accessToken) return;
    if (await this.#acquired(undefined, expired.accessToken)) return;
    throw new OAuthError('The token has expired', { error: 'invalid_grant' });
  }

  /** The way of machines, where the configuration allows it; what is wrong with that only a person can mend. */
  async #acquired(challenge: Challenge | undefined, not: string | undefined): Promise<boolean> {
    const { acquire, place } = this.#deps;
    if (acquire === undefined) return false;
    try {
      this.#take(await acquire(challenge, not, this.#closing.signal));
      return true;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'SIGN_IN_FAILED') throw error;
      this.#watch();
      throw needsSignIn(place, { why: error.message.replace(/\.$/, ''), cause: error });
    }
  }

  #renewLater(): void {
    if (this.#tokens?.refreshToken === undefined || this.#renewAt === NEVER) this.#renewal.sleep();
    else this.#renewal.wakeIn(this.#renewAt - this.#deps.now());
  }

  /** The token is good for a while, and who has to sign in again knows before it ends. */
  #notYet(tokens: StoredTokens, error: unknown): void {
    if (this.#closing.signal.aborted) return;
    const { place, log, now } = this.#deps;
    const hasEnded = isOver(error);
    const end = tokens.expiresAt ?? NEVER;
    this.#renewAt = hasEnded ? end : Math.min(now() + RENEW_AGAIN_MS, end);
    if (hasEnded) this.#watch();
    else this.#renewLater();
    const advice = hasEnded ? { advice: loginCommand(place) } : {};
    const about = { upstream: place.upstream, reason: messageOf(error), ...advice };
    log.warn('A token could not be renewed.', about);
  }

  #load(): Promise<StoredTokens | undefined> {
    this.#loading ??= this.#read().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #read(): Promise<StoredTokens | undefined> {
    const { vault, place, seed } = this.#deps;
    this.#lookedAt = performance.now();
    this.#edition = vault.edition;
    const url = await this.#deps.url();
    const saved = await vault.load(place);
    const seeded = seed?.(url);
    const isOlderThanSeed = seeded !== undefined && saved?.flow === 'seed' && saved.seed !== seeded.seed;
    const found = saved === undefined || isOlderThanSeed ? seeded : saved;
    // The entry may have been pointed elsewhere since: tokens stay with the address they are for.
    if (found !== undefined && found.url === url) return this.#take(found);
    this.#tokens = undefined;
    return undefined;
  }

  #take(tokens: StoredTokens): StoredTokens {
    const proof = `Bearer ${tokens.accessToken}`;
    const before = this.#headers['Authorization'];
    if (before !== proof) this.#headers = { Authorization: proof };
    // The first one replaces nothing: whoever is refused was refused with it.
    if (before !== undefined && before !== proof) this.#changedAt = performance.now();
    this.#tokens = tokens;
    this.#renewAt = (tokens.refreshToken === undefined ? tokens.expiresAt : renewalTime(tokens)) ?? NEVER;
    this.#renewLater();
    return tokens;
  }

  #watch(): void {
    this.#refusedToken = this.#tokens?.accessToken;
    this.#watching.start();
  }

  async #isSignedIn(): Promise<boolean> {
    const saved = await this.#load();
    if (saved === undefined || saved.accessToken === this.#refusedToken) return false;
    this.#onSignedIn();
    return true;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
