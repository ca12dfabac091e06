import type { UpstreamName } from '../../model/ids.ts';
import type { Database } from '../../storage/database.ts';
import type { SignInsTable } from '../../storage/tables.ts';
import { type Place, placeKey } from './place.ts';

/** Sign-ins as they lie in the database, sealed. What is changed is told to the other processes. */
export class SignInRows {
  readonly #database: () => Promise<Database>;

  constructor(database: () => Promise<Database>) {
    this.#database = database;
  }

  async read(place: Place): Promise<SignInsTable | undefined> {
    const { query } = await this.#database();
    return query
      .selectFrom('sign_ins')
      .selectAll()
      .where('upstream', '=', place.upstream)
      .where('caller', '=', place.caller)
      .executeTakeFirst();
  }

  async write(row: SignInsTable): Promise<void> {
    const { query, changes } = await this.#database();
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
  async writeOver(read: SignInsTable | undefined, row: SignInsTable): Promise<boolean> {
    const { query, changes } = await this.#database();
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
    const { query, changes } = await this.#database();
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
    const { query } = await this.#database();
    const rows = await query
      .selectFrom('sign_ins')
      .select(['upstream', 'caller', 'saved_at'])
      .where('upstream', 'in', upstreams)
      .execute();
    return new Map(rows.map((row) => [placeKey(row), row.saved_at]));
  }

  async places(): Promise<readonly Place[]> {
    const { query } = await this.#database();
    const rows = await query.selectFrom('sign_ins').select(['upstream', 'caller']).execute();
    return rows.map(({ upstream, caller }) => ({ upstream: upstream as UpstreamName, caller })); // Was one when saved.
  }
}
