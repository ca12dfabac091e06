import type { UpstreamName } from '../../model/ids.ts';
import type { Database } from '../../storage/database.ts';
import { type Place, placeKey } from './place.ts';
import type { SealedJson } from './sealing/sealed-json.ts';
import type { StoredTokens } from './stored-tokens.ts';

interface SavedDeps {
  readonly database: () => Promise<Database>;
  readonly sealed: SealedJson;
  readonly now: () => number;
}

/** What was read, and how to know it again. */
interface Read {
  /** Undefined where nobody can decrypt it any more. */
  readonly tokens: StoredTokens | undefined;
  readonly body: string;
}

/** Sign-ins as they lie in the database, encrypted. What is changed is told to the other processes. */
export class SavedSignIns {
  readonly #deps: SavedDeps;

  constructor(deps: SavedDeps) {
    this.#deps = deps;
  }

  async read(place: Place): Promise<Read | undefined> {
    const { query } = await this.#deps.database();
    const row = await query
      .selectFrom('sign_ins')
      .selectAll()
      .where('upstream', '=', place.upstream)
      .where('caller', '=', place.caller)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const opened = await this.#deps.sealed.open(row.body, about(place, row.issuer));
    // Our own value of this very program, authenticated by its seal.
    return { tokens: opened as StoredTokens | undefined, body: row.body };
  }

  async write(place: Place, tokens: StoredTokens): Promise<void> {
    const row = await this.#row(place, tokens);
    const { query, changes } = await this.#deps.database();
    await query.transaction().execute(async (transaction) => {
      await transaction
        .insertInto('sign_ins')
        .values(row)
        .onConflict((conflict) => conflict.columns(['upstream', 'caller']).doUpdateSet(row))
        .execute();
      await changes.announce(transaction, 'sign-ins');
    });
  }

  /** Only while there is what was read, or nothing where nothing was; says whether it was so. */
  async writeOver(read: Read | undefined, place: Place, tokens: StoredTokens): Promise<boolean> {
    const row = await this.#row(place, tokens);
    const { query, changes } = await this.#deps.database();
    return query.transaction().execute(async (transaction) => {
      const written =
        read === undefined
          ? transaction
              .insertInto('sign_ins')
              .values(row)
              .onConflict((conflict) => conflict.columns(['upstream', 'caller']).doNothing())
              .returning('upstream')
          : transaction
              .updateTable('sign_ins')
              .set(row)
              .where('upstream', '=', row.upstream)
              .where('caller', '=', row.caller)
              .where('body', '=', read.body)
              .returning('upstream');
      if ((await written.executeTakeFirst()) === undefined) return false;
      await changes.announce(transaction, 'sign-ins');
      return true;
    });
  }

  async remove(place: Place): Promise<void> {
    const { query, changes } = await this.#deps.database();
    await query.transaction().execute(async (transaction) => {
      await transaction
        .deleteFrom('sign_ins')
        .where('upstream', '=', place.upstream)
        .where('caller', '=', place.caller)
        .execute();
      await changes.announce(transaction, 'sign-ins');
    });
  }

  /** When each sign-in of an upstream was last saved, by the key of its place. */
  async savedAt(upstreams: readonly UpstreamName[]): Promise<ReadonlyMap<string, number>> {
    const { query } = await this.#deps.database();
    const rows = await query
      .selectFrom('sign_ins')
      .select(['upstream', 'caller', 'saved_at'])
      .where('upstream', 'in', upstreams)
      .execute();
    return new Map(rows.map((row) => [placeKey(row), row.saved_at]));
  }

  async places(): Promise<readonly Place[]> {
    const { query } = await this.#deps.database();
    const rows = await query.selectFrom('sign_ins').select(['upstream', 'caller']).execute();
    return rows.map(({ upstream, caller }) => ({ upstream: upstream as UpstreamName, caller })); // Was one when saved.
  }

  async #row(place: Place, tokens: StoredTokens) {
    const issuer = tokens.server?.issuer ?? '';
    const body = await this.#deps.sealed.seal(tokens, about(place, issuer));
    return { ...place, issuer, body, saved_at: this.#deps.now() };
  }
}

function about({ upstream, caller }: Place, issuer: string): readonly string[] {
  return ['sign-in', upstream, caller, issuer];
}
