import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';

import type { Database } from '../../core/storage/database.ts';
import { storeProblemOf } from '../../core/storage/store-error.ts';
import type { Tables } from '../../core/storage/tables.ts';
import { removeExpiredResults } from './remove-expired-results.ts';
import type { ResultLookup, StoredResult, ResultStore } from './result-store.ts';

interface SharedOptions {
  readonly database: () => Promise<Database>;
  readonly keepMs: number;
  /** The maximum for the results of all gateways together. */
  readonly maxBytes: number;
  readonly now: () => number;
}

/** The number of results that are also kept in memory, so that reading a page does not fetch the whole result from the database. */
const MAX_CACHED_RESULTS = 8;
const ID_BYTES = 12;

/** Keeps results in a database that several gateways share, so each of them can return the next page. */
export class SharedResultStore implements ResultStore {
  #options: SharedOptions;
  /** Keeps the results that cannot be stored in the database. */
  readonly #memory: ResultStore;
  readonly #cache = new Map<string, StoredResult>();

  constructor(options: SharedOptions, memory: ResultStore) {
    this.#options = options;
    this.#memory = memory;
  }

  adjust({ keepMs, maxBytes }: Pick<SharedOptions, 'keepMs' | 'maxBytes'>): void {
    this.#options = { ...this.#options, keepMs, maxBytes };
  }

  async keep(owner: string, text: string): Promise<StoredResult | undefined> {
    const { database, keepMs, maxBytes, now } = this.#options;
    const bytes = Buffer.byteLength(text);
    if (bytes > maxBytes) return undefined;
    const result = { id: `r_${randomBytes(ID_BYTES).toString('base64url')}`, text };
    try {
      const { query } = await database();
      await query.transaction().execute(async (transaction) => {
        await makeRoom(transaction, { owner, bytes, maxBytes, now: now() });
        const row = { id: result.id, owner, body: text, bytes, expires_at: now() + keepMs };
        await transaction.insertInto('kept_results').values(row).execute();
      });
    } catch (error) {
      if (storeProblemOf(error) === undefined) throw error;
      return this.#memory.keep(owner, text);
    }
    this.#addToCache(result);
    return result;
  }

  async find(owner: string, id: string): Promise<ResultLookup> {
    const inMemory = await this.#memory.find(owner, id);
    if (inMemory.state !== 'unknown') return inMemory;
    const { database, keepMs, now } = this.#options;
    const { query } = await database();
    // One statement checks the owner and the expiry and renews the expiry, so no gateway can remove the result in between.
    const { numUpdatedRows } = await query
      .updateTable('kept_results')
      .set({ expires_at: now() + keepMs })
      .where('id', '=', id)
      .where('owner', '=', owner)
      .where('expires_at', '>', now())
      .executeTakeFirst();
    if (numUpdatedRows === 0n) {
      this.#cache.delete(id);
      const row = await query
        .selectFrom('kept_results')
        .select('owner')
        .where('id', '=', id)
        .executeTakeFirst();
      return { state: row?.owner === owner ? 'gone' : 'unknown' };
    }
    const cached = this.#cache.get(id);
    if (cached !== undefined) return { state: 'kept', result: cached };
    const row = await query.selectFrom('kept_results').select('body').where('id', '=', id).executeTakeFirst();
    if (row === undefined) return { state: 'gone' };
    const result = { id, text: row.body };
    this.#addToCache(result);
    return { state: 'kept', result };
  }

  #addToCache(result: StoredResult): void {
    this.#cache.set(result.id, result);
    // The map is not empty, so its first key is a string.
    if (this.#cache.size > MAX_CACHED_RESULTS) this.#cache.delete(this.#cache.keys().next().value as string);
  }
}

/** Removes expired results, then the least recently read results of the owner with the most bytes, until the new one fits. */
async function makeRoom(
  transaction: Transaction<Tables>,
  need: { readonly owner: string; readonly bytes: number; readonly maxBytes: number; readonly now: number },
): Promise<void> {
  const { owner, bytes, maxBytes, now } = need;
  // A removed result keeps its row for a while, so that its owner learns that the result existed.
  const emptied = { body: '', bytes: 0, expires_at: now };
  await removeExpiredResults(transaction, now);
  const rows = await transaction
    .selectFrom('kept_results')
    .select(['id', 'owner', 'bytes'])
    .where('bytes', '>', 0)
    .orderBy('expires_at')
    .orderBy('id')
    .execute();
  const bytesByOwner = new Map([[owner, bytes]]);
  for (const row of rows) bytesByOwner.set(row.owner, (bytesByOwner.get(row.owner) ?? 0) + row.bytes);
  let total = [...bytesByOwner.values()].reduce((sum, ownedBytes) => sum + ownedBytes, 0);
  while (total > maxBytes) {
    const [largestOwner] = [...bytesByOwner].toSorted((a, b) => b[1] - a[1])[0] ?? [owner];
    const at = rows.findIndex((row) => row.owner === largestOwner);
    const [oldest] = rows.splice(at < 0 ? 0 : at, 1);
    if (oldest === undefined) return;
    total -= oldest.bytes;
    bytesByOwner.set(oldest.owner, (bytesByOwner.get(oldest.owner) ?? 0) - oldest.bytes);
    await transaction.updateTable('kept_results').set(emptied).where('id', '=', oldest.id).execute();
  }
}
