import type { Database } from './database.ts';
import { storeError } from './store-error.ts';

/** Opens the database on first use, once for concurrent callers. After a failure the next call tries again. */
export class LazyDatabase implements AsyncDisposable {
  readonly #open: () => Promise<Database>;
  #database: Promise<Database> | undefined;
  #isClosed = false;

  constructor(open: () => Promise<Database>) {
    this.#open = open;
  }

  get(): Promise<Database> {
    if (this.#isClosed) return Promise.reject(storeError('closed', {}));
    if (this.#database === undefined) {
      const attempt = this.#open();
      this.#database = attempt;
      attempt.catch(() => {
        this.#database = undefined;
      });
    }
    return this.#database;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const database = await this.#database?.catch(() => undefined); // The caller of `get` has the error.
    await database?.[Symbol.asyncDispose]();
  }
}
