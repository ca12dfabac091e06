import type { UpstreamName } from '../../core/ids.ts';
import type { Database } from '../../core/storage/database.ts';
import { type SignInId, signInKey } from './sign-in-id.ts';
import type { JsonCipher } from './token-encryption/json-cipher.ts';
import type { StoredTokens } from './stored-tokens.ts';

interface SignInStoreDeps {
  readonly database: () => Promise<Database>;
  readonly cipher: JsonCipher;
  readonly now: () => number;
}

interface SavedSignIn {
  /** Undefined if the row cannot be decrypted. */
  readonly tokens: StoredTokens | undefined;
  /** The encrypted tokens. `writeIfUnchanged` compares them to detect a change of the row. */
  readonly body: string;
}

/** Reads and writes the table of sign-ins, whose tokens are encrypted. Announces changes to the other processes. */
export class SignInStore {
  readonly #deps: SignInStoreDeps;

  constructor(deps: SignInStoreDeps) {
    this.#deps = deps;
  }

  async read(signInId: SignInId): Promise<SavedSignIn | undefined> {
    const { query } = await this.#deps.database();
    const row = await query
      .selectFrom('sign_ins')
      .selectAll()
      .where('upstream', '=', signInId.upstream)
      .where('caller', '=', signInId.caller)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const decrypted = await this.#deps.cipher.decrypt(row.body, encryptionContext(signInId, row.issuer));
    // The encryption proves that this program wrote the tokens.
    return { tokens: decrypted as StoredTokens | undefined, body: row.body };
  }

  async write(signInId: SignInId, tokens: StoredTokens): Promise<void> {
    const row = await this.#encryptRow(signInId, tokens);
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

  /** Writes the tokens only if the row is still the expected one, or still absent. Resolves with whether it wrote them. */
  async writeIfUnchanged(
    expected: SavedSignIn | undefined,
    signInId: SignInId,
    tokens: StoredTokens,
  ): Promise<boolean> {
    const row = await this.#encryptRow(signInId, tokens);
    const { query, changes } = await this.#deps.database();
    return query.transaction().execute(async (transaction) => {
      const statement =
        expected === undefined
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
              .where('body', '=', expected.body)
              .returning('upstream');
      if ((await statement.executeTakeFirst()) === undefined) return false;
      await changes.announce(transaction, 'sign-ins');
      return true;
    });
  }

  async remove(signInId: SignInId): Promise<void> {
    const { query, changes } = await this.#deps.database();
    await query.transaction().execute(async (transaction) => {
      await transaction
        .deleteFrom('sign_ins')
        .where('upstream', '=', signInId.upstream)
        .where('caller', '=', signInId.caller)
        .execute();
      await changes.announce(transaction, 'sign-ins');
    });
  }

  /** Returns the time at which each sign-in of these upstreams was last saved, by the key of the sign-in. */
  async savedAt(upstreams: readonly UpstreamName[]): Promise<ReadonlyMap<string, number>> {
    const { query } = await this.#deps.database();
    const rows = await query
      .selectFrom('sign_ins')
      .select(['upstream', 'caller', 'saved_at'])
      .where('upstream', 'in', upstreams)
      .execute();
    return new Map(rows.map((row) => [signInKey(row), row.saved_at]));
  }

  async listIds(): Promise<readonly SignInId[]> {
    const { query } = await this.#deps.database();
    const rows = await query.selectFrom('sign_ins').select(['upstream', 'caller']).execute();
    return rows.map(({ upstream, caller }) => ({ upstream: upstream as UpstreamName, caller })); // Only valid names are saved.
  }

  async #encryptRow(signInId: SignInId, tokens: StoredTokens) {
    const issuer = tokens.server?.issuer ?? '';
    const body = await this.#deps.cipher.encrypt(tokens, encryptionContext(signInId, issuer));
    return { ...signInId, issuer, body, saved_at: this.#deps.now() };
  }
}

/** Returns the context that binds a row to its sign-in and issuer, so that the row cannot be decrypted as another one. */
function encryptionContext({ upstream, caller }: SignInId, issuer: string): readonly string[] {
  return ['sign-in', upstream, caller, issuer];
}
