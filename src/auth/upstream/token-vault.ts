import { withinMs } from '../../lib/within-ms.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Logger } from '../../observe/log.ts';
import type { Database } from '../../storage/database.ts';
import { giveBackLate, withLease } from '../../storage/lease.ts';
import { RenewedTokens } from './keeping/renewed-tokens.ts';
import type { OAuthClient } from './oauth/client-authentication.ts';
import type { KeySource } from './sealing/secret-key.ts';
import { type Place, placeKey } from './place.ts';
import { SavedSignIns } from './saved-sign-ins.ts';
import { SealedJson } from './sealing/sealed-json.ts';
import type { SignInNote, StoredTokens } from './stored-tokens.ts';

interface VaultDeps {
  readonly database: () => Promise<Database>;
  readonly key: KeySource;
  readonly pid: number;
  readonly now: () => number;
  readonly log: Logger;
  /** Whether `look` is called when another process has saved something, so that nobody needs to ask. */
  readonly isFollowed?: boolean;
  /** How soon what could not be saved is tried again; a parameter for tests. */
  readonly saveAgainMs?: number;
}

/** Longer than any answer of a token endpoint is waited for. */
const LEASE_MS = 30_000;
/** What a token endpoint is given that was asked when everything began to close: what it answers later is lost. */
const LAST_ANSWERS_MS = 4000;
const SAVE_AGAIN_MS = 1000;

/** Tokens and registrations, encrypted in the database. What cannot be decrypted counts as absent, and is kept. */
export class TokenVault implements AsyncDisposable {
  readonly #deps: VaultDeps;
  readonly #waiting = new Set<{ readonly key: string; readonly told: () => Promise<unknown> }>();

  readonly #sealed: SealedJson;
  readonly #saved: SavedSignIns;
  readonly #renewed: RenewedTokens;
  #edition = 0;
  readonly #refreshing = new Set<Promise<unknown>>();

  constructor(deps: VaultDeps) {
    this.#deps = deps;
    const { database, now, saveAgainMs = SAVE_AGAIN_MS } = deps;
    this.#sealed = new SealedJson(deps);
    this.#saved = new SavedSignIns({ database, now, sealed: this.#sealed });
    this.#renewed = new RenewedTokens({
      saved: this.#saved,
      tell: (place) => this.#tell(place),
      settled: async (place) => giveBackLate(await database(), leaseName(place)),
      saveAgainMs,
    });
  }

  /** Whether anything can be in it; without a key nothing was ever saved, and the database need not be opened. */
  get isUsed(): boolean {
    return this.#deps.key.has();
  }

  /** Another number whenever something may have been saved by anybody; undefined where that is not known. */
  get edition(): number | undefined {
    return this.#deps.isFollowed === true ? this.#edition : undefined;
  }

  async load(place: Place): Promise<StoredTokens | undefined> {
    const read = this.isUsed ? await this.#saved.read(place) : undefined;
    return this.#renewed.current(place, read?.tokens);
  }

  /** Whether something was saved here that nobody can read any more; it stays until somebody signs in again. */
  async isUnreadable(place: Place): Promise<boolean> {
    return (await this.#saved.read(place)) !== undefined && (await this.load(place)) === undefined;
  }

  async save(place: Place, tokens: StoredTokens): Promise<void> {
    await this.#saved.write(place, tokens);
    this.#renewed.overruled(place, tokens);
    await this.#tell(place);
  }

  /**
   * Saves what was had for tokens that are spent by now, and says whether it counts: it does not where somebody signed in or out
   * meanwhile. Where it cannot be saved, which rejects, it counts as well, and is kept in memory until it can be.
   */
  async replace(
    spent: StoredTokens,
    tokens: StoredTokens,
    about: { readonly place: Place; readonly isFirst: boolean },
  ): Promise<boolean> {
    return this.#renewed.replace(spent, tokens, about);
  }

  /** Told before `save` resolves, so that whoever saved finds everybody in the know; must not reject. */
  onSaved(place: Place, told: () => Promise<unknown>): Disposable {
    const waiting = { key: placeKey(place), told };
    this.#waiting.add(waiting);
    return { [Symbol.dispose]: () => void this.#waiting.delete(waiting) };
  }

  /** Another process may have saved something; whoever waits looks. */
  async look(): Promise<void> {
    this.#edition++;
    await Promise.all([...this.#waiting].map((one) => one.told()));
  }

  async forget(place: Place): Promise<void> {
    if (this.isUsed) await this.#saved.remove(place);
    this.#renewed.forget(place);
  }

  /** When each sign-in of an upstream was last saved, by caller; for noticing what another process did. */
  async savedAt(upstreams: readonly UpstreamName[]): Promise<ReadonlyMap<string, number>> {
    return !this.isUsed || upstreams.length === 0 ? new Map() : this.#saved.savedAt(upstreams);
  }

  /** Every sign-in that there is, for the list that people see. */
  async places(): Promise<readonly Place[]> {
    return this.isUsed ? this.#saved.places() : [];
  }

  async loadClient(issuer: string, upstream: UpstreamName): Promise<RegisteredClient | undefined> {
    if (!this.isUsed) return undefined;
    const { query } = await this.#deps.database();
    const row = await query
      .selectFrom('oauth_clients')
      .selectAll()
      .where('issuer', '=', issuer)
      .where('upstream', '=', upstream)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    return (await this.#sealed.open(row.body, ['client', issuer, upstream])) as RegisteredClient | undefined; // Our own value, as its seal says.
  }

  async saveClient(issuer: string, upstream: UpstreamName, client: RegisteredClient): Promise<void> {
    const body = await this.#sealed.seal(client, ['client', issuer, upstream]);
    const { query } = await this.#deps.database();
    const row = { issuer, upstream, body, saved_at: this.#deps.now() };
    await query
      .insertInto('oauth_clients')
      .values(row)
      .onConflict((conflict) => conflict.columns(['issuer', 'upstream']).doUpdateSet(row))
      .execute();
  }

  async forgetClient(issuer: string, upstream: UpstreamName): Promise<void> {
    const { query } = await this.#deps.database();
    await query
      .deleteFrom('oauth_clients')
      .where('issuer', '=', issuer)
      .where('upstream', '=', upstream)
      .execute();
  }

  async note(place: Place, note: SignInNote | undefined): Promise<void> {
    const { query } = await this.#deps.database();
    if (note === undefined) {
      await query
        .deleteFrom('sign_in_notes')
        .where('upstream', '=', place.upstream)
        .where('caller', '=', place.caller)
        .execute();
      return;
    }
    const row = { ...place, body: JSON.stringify(note), noted_at: this.#deps.now() };
    await query
      .insertInto('sign_in_notes')
      .values(row)
      .onConflict((conflict) => conflict.columns(['upstream', 'caller']).doUpdateSet(row))
      .execute();
  }

  async noted(place: Place): Promise<(SignInNote & { readonly at: number }) | undefined> {
    const { query } = await this.#deps.database();
    const row = await query
      .selectFrom('sign_in_notes')
      .selectAll()
      .where('upstream', '=', place.upstream)
      .where('caller', '=', place.caller)
      .executeTakeFirst();
    return row === undefined ? undefined : { ...(JSON.parse(row.body) as SignInNote), at: row.noted_at };
  }

  /**
   * One process at a time; `work` gets what is saved once it has its turn, which may be newer than what the caller knew, and whether another
   * one may have begun meanwhile.
   */
  async refreshing<T>(
    place: Place,
    work: (current: StoredTokens | undefined, lost: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { pid, now } = this.#deps;
    const database = await this.#deps.database();
    // Whoever else had its turn now would spend again what is spent.
    const isKept = (): boolean => this.#renewed.isUnsaved(place);
    const lease = { database, name: leaseName(place), forMs: LEASE_MS, pid, now, signal, isKept };
    const refreshed = withLease(lease, async (lost) => work(await this.load(place), lost));
    this.#refreshing.add(refreshed);
    return refreshed.finally(() => this.#refreshing.delete(refreshed));
  }

  /** Before the database closes: a refresh token that is spent must not be all that the next start finds. */
  async [Symbol.asyncDispose](): Promise<void> {
    const answered = Promise.allSettled(this.#refreshing).then(() => this.#renewed.saveAll());
    await withinMs(Promise.allSettled([this.#renewed.saveAll(), answered]), LAST_ANSWERS_MS);
  }

  async #tell(place: Place): Promise<void> {
    const key = placeKey(place);
    const concerned = [...this.#waiting].filter((one) => one.key === key);
    await Promise.all(concerned.map((one) => one.told()));
  }
}

/** A registration is good for the redirect address it was made with. */
export interface RegisteredClient {
  readonly client: OAuthClient;
  readonly redirectUri: string;
}

function leaseName(place: Place): string {
  return `sign-in ${placeKey(place)}`;
}
