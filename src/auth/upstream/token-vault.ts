import { withinMs } from '../../lib/within-ms.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Logger } from '../../observe/log.ts';
import type { Database } from '../../storage/database.ts';
import { giveBackLate, withLease } from '../../storage/lease.ts';
import type { SignInsTable } from '../../storage/tables.ts';
import { NewestTokens } from './keeping/newest-tokens.ts';
import type { OAuthClient } from './oauth/client-authentication.ts';
import { seal, unseal } from '../../lib/sealed.ts';
import type { KeySource } from './sealing/secret-key.ts';
import { type Place, placeKey } from './place.ts';
import { SignInRows } from './sign-in-rows.ts';
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

  readonly #rows: SignInRows;
  /** By place: what is saved of it may be spent. */
  readonly #newest = new Map<string, NewestTokens>();
  #edition = 0;
  readonly #refreshing = new Set<Promise<unknown>>();
  #isClosing = false;

  constructor(deps: VaultDeps) {
    this.#deps = deps;
    this.#rows = new SignInRows(deps.database);
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
    const saved = this.isUsed ? await this.#opened(place, await this.#rows.read(place)) : undefined;
    const key = placeKey(place);
    const newest = this.#newest.get(key);
    if (newest === undefined) return saved;
    if (!newest.isNewerThan(saved)) {
      // Once these are saved they are kept for their history: a slow reader may still come with what was spent before.
      if (saved?.accessToken !== newest.tokens.accessToken) this.#newest.delete(key);
      return saved;
    }
    // Nobody waits for it.
    if (newest.saving === undefined) this.#saveNewest(newest).catch(() => {});
    return newest.tokens;
  }

  /** Whether something was saved here that nobody can read any more; it stays until somebody signs in again. */
  async isUnreadable(place: Place): Promise<boolean> {
    return (await this.#rows.read(place)) !== undefined && (await this.load(place)) === undefined;
  }

  async save(place: Place, tokens: StoredTokens): Promise<void> {
    await this.#rows.write(await this.#sealed(place, tokens));
    this.#newest.delete(placeKey(place));
    await this.#tell(place);
  }

  /** Saves what was had for tokens that are spent by now: where it cannot be saved it is kept in memory until it can. */
  async replace(spent: StoredTokens, tokens: StoredTokens, place: Place): Promise<void> {
    const key = placeKey(place);
    const before = this.#newest.get(key);
    const newest = new NewestTokens(place, { spent, tokens }, before);
    // Before anything is waited for: from now on nobody gets the spent ones, whatever is saved.
    this.#newest.set(key, newest);
    await this.#saveNewest(newest, before?.saving);
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
    this.#newest.delete(placeKey(place));
    if (this.isUsed) await this.#rows.remove(place);
  }

  /** When each sign-in of an upstream was last saved, by caller; for noticing what another process did. */
  async savedAt(upstreams: readonly UpstreamName[]): Promise<ReadonlyMap<string, number>> {
    return !this.isUsed || upstreams.length === 0 ? new Map() : this.#rows.savedAt(upstreams);
  }

  /** Every sign-in that there is, for the list that people see. */
  async places(): Promise<readonly Place[]> {
    return this.isUsed ? this.#rows.places() : [];
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
    return (await this.#open(row.body, ['client', issuer, upstream])) as RegisteredClient | undefined; // As above.
  }

  async saveClient(issuer: string, upstream: UpstreamName, client: RegisteredClient): Promise<void> {
    const body = await this.#seal(client, ['client', issuer, upstream]);
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

  /** One process at a time; `work` gets what is saved once it has its turn, which may be newer than what the caller knew. */
  async refreshing<T>(
    place: Place,
    work: (current: StoredTokens | undefined) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { pid, now } = this.#deps;
    const database = await this.#deps.database();
    const key = placeKey(place);
    // Whoever else had its turn now would spend again what is spent.
    const isKept = (): boolean => this.#newest.get(key)?.isUnsaved === true;
    const lease = { database, name: leaseName(place), forMs: LEASE_MS, pid, now, signal, isKept };
    const refreshed = withLease(lease, async () => work(await this.load(place)));
    this.#refreshing.add(refreshed);
    return refreshed.finally(() => this.#refreshing.delete(refreshed));
  }

  /** Before the database closes: a refresh token that is spent must not be all that the next start finds. */
  async [Symbol.asyncDispose](): Promise<void> {
    const saved = async (): Promise<void> => {
      await Promise.allSettled(this.#refreshing);
      this.#isClosing = true;
      const unsaved = [...this.#newest.values()].filter(({ isUnsaved }) => isUnsaved);
      await Promise.allSettled(unsaved.map((newest) => this.#saveNewest(newest, newest.saving)));
    };
    await withinMs(saved(), LAST_ANSWERS_MS);
    this.#isClosing = true;
  }

  /** One write after the other, and none over what somebody else saved: who signed in or out since knows better. */
  #saveNewest(newest: NewestTokens, before?: Promise<void>): Promise<void> {
    const { place, tokens } = newest;
    const saved = async (): Promise<void> => {
      await before?.catch(() => {});
      const read = await this.#rows.read(place);
      if (newest.isNewerThan(await this.#opened(place, read))) {
        const isWritten = await this.#rows.writeOver(read, await this.#sealed(place, tokens));
        newest.wasSaved = true;
        if (isWritten) await this.#tell(place);
      }
      newest.isUnsaved = false;
      await giveBackLate(await this.#deps.database(), leaseName(place));
    };
    newest.saving = saved()
      .catch((error: unknown) => {
        this.#saveLater(newest);
        throw error;
      })
      .finally(() => (newest.saving = undefined));
    return newest.saving;
  }

  /** Although nobody asks for them: other processes have what is spent until then, and wait. */
  #saveLater(newest: NewestTokens): void {
    if (newest.isAwaited || this.#isClosing) return;
    newest.isAwaited = true;
    const again = async (): Promise<void> => {
      newest.isAwaited = false;
      const current = this.#newest.get(placeKey(newest.place));
      if (current === newest) await (newest.saving ?? this.#saveNewest(newest));
      else if (current?.isUnsaved !== true)
        await giveBackLate(await this.#deps.database(), leaseName(newest.place));
    };
    // Whatever fails is tried again, or is over when the lease is.
    setTimeout(() => void again().catch(() => {}), this.#deps.saveAgainMs ?? SAVE_AGAIN_MS).unref();
  }

  async #tell(place: Place): Promise<void> {
    const key = placeKey(place);
    const concerned = [...this.#waiting].filter((one) => one.key === key);
    await Promise.all(concerned.map((one) => one.told()));
  }

  async #sealed(place: Place, tokens: StoredTokens): Promise<SignInsTable> {
    const issuer = tokens.server?.issuer ?? '';
    const body = await this.#seal(tokens, ['sign-in', place.upstream, place.caller, issuer]);
    return { ...place, issuer, body, saved_at: this.#deps.now() };
  }

  async #opened(place: Place, row: SignInsTable | undefined): Promise<StoredTokens | undefined> {
    if (row === undefined) return undefined;
    // Our own value of this very program, authenticated by its seal.
    return (await this.#open(row.body, ['sign-in', place.upstream, place.caller, row.issuer])) as
      | StoredTokens
      | undefined;
  }

  async #seal(value: unknown, about: readonly string[]): Promise<string> {
    return seal(JSON.stringify(value), await this.#deps.key.get(), about);
  }

  async #open(body: string, about: readonly string[]): Promise<unknown> {
    const text = unseal(body, await this.#deps.key.get(), about);
    if (text !== undefined) return JSON.parse(text);
    this.#deps.log.warn('A saved sign-in cannot be decrypted and is not used.', { about: about.slice(0, 2) });
    return undefined;
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
