import type { Logger } from '../../../observe/log.ts';
import type { Database } from '../../../storage/database.ts';
import { isSameSecret } from '../secret-text.ts';
import type { SecretText } from '../secret-text.ts';
import type { Grant } from './grants.ts';

/** An access token that is good until then. */
export interface Recognised {
  readonly hash: string;
  readonly grant: Grant;
  readonly until: number;
}

interface RecognisedDeps {
  readonly database: () => Promise<Database>;
  readonly now: () => number;
  readonly log: Logger;
}

const MAX_TOKENS = 20_000;
const AT_ONCE = 500;
const AGAIN_MS = 2000;

/** Access tokens that were seen before, so that the next request with one asks nobody; it follows what is revoked. */
export class RecognisedTokens implements AsyncDisposable {
  readonly #deps: RecognisedDeps;
  readonly #tokens = new Map<string, Recognised>();
  #following: Disposable | undefined;
  #again: NodeJS.Timeout | undefined;
  #edition = 0;

  private constructor(deps: RecognisedDeps) {
    this.#deps = deps;
  }

  static async open(deps: RecognisedDeps): Promise<RecognisedTokens> {
    const tokens = new RecognisedTokens(deps);
    const { changes } = await deps.database();
    tokens.#following = changes.on('tokens', () => void tokens.#look());
    return tokens;
  }

  find(shown: SecretText): Recognised | undefined {
    const found = this.#tokens.get(shown.id);
    if (found === undefined || !isSameSecret(shown, found.hash)) return undefined;
    if (found.until > this.#deps.now()) return found;
    this.#tokens.delete(shown.id);
    return undefined;
  }

  /** Reads one from the database and keeps it, unless something was revoked meanwhile. */
  async recognise(id: string, read: () => Promise<Recognised | undefined>): Promise<Recognised | undefined> {
    const edition = this.#edition;
    const found = await read();
    if (found === undefined || edition !== this.#edition) return found;
    this.#tokens.set(id, found);
    // Whoever comes again is read again.
    if (this.#tokens.size > MAX_TOKENS) this.#tokens.delete(this.#tokens.keys().next().value as string); // It is not empty.
    return found;
  }

  /** What came of this grant is good no more. */
  forget(grant: string): void {
    this.#edition++;
    for (const [id, token] of this.#tokens) if (token.grant.id === grant) this.#tokens.delete(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following?.[Symbol.dispose]();
    this.#following = undefined;
    clearTimeout(this.#again);
  }

  /** Something was revoked elsewhere; what is not in the database any more is forgotten. */
  async #look(): Promise<void> {
    this.#edition++;
    try {
      const { query } = await this.#deps.database();
      const known = [...this.#tokens.keys()];
      for (let at = 0; at < known.length; at += AT_ONCE) {
        const some = known.slice(at, at + AT_ONCE);
        const rows = await query.selectFrom('client_tokens').select('id').where('id', 'in', some).execute();
        const good = new Set(rows.map(({ id }) => id));
        for (const id of some) if (!good.has(id)) this.#tokens.delete(id);
      }
    } catch (error) {
      this.#deps.log.warn('What was revoked cannot be read now.', { reason: String(error) });
      clearTimeout(this.#again);
      if (this.#following !== undefined) this.#again = setTimeout(() => void this.#look(), AGAIN_MS).unref();
    }
  }
}
