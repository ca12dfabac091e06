import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';

import type { Database } from '../storage/database.ts';
import { troubleOf } from '../storage/store-error.ts';
import type { Tables } from '../storage/tables.ts';
import { removeOverResults } from './remove-over.ts';
import type { Found, KeptResult, ResultStore } from './result-store.ts';

interface SharedOptions {
  readonly database: () => Promise<Database>;
  readonly keepMs: number;
  /** Of all results that are kept, by whichever gateway. */
  readonly maxBytes: number;
  readonly now: () => number;
}

/** Texts that are at hand, so that the pages of a result are not each fetched with all of it. */
const MAX_AT_HAND = 8;
const ID_BYTES = 12;

/** Results in a database that several gateways share, so that any of them can give the next page. */
export class SharedStore implements ResultStore {
  #options: SharedOptions;
  /** What cannot be stored is at least kept here. */
  readonly #memory: ResultStore;
  readonly #atHand = new Map<string, KeptResult>();

  constructor(options: SharedOptions, memory: ResultStore) {
    this.#options = options;
    this.#memory = memory;
  }

  adjust({ keepMs, maxBytes }: Pick<SharedOptions, 'keepMs' | 'maxBytes'>): void {
    this.#options = { ...this.#options, keepMs, maxBytes };
  }

  async keep(owner: string, text: string): Promise<KeptResult | undefined> {
    const { database, keepMs, maxBytes, now } = this.#options;
    const bytes = Buffer.byteLength(text);
    if (bytes > maxBytes) return undefined;
    const kept = { id: `r_${randomBytes(ID_BYTES).toString('base64url')}`, text };
    try {
      const { query } = await database();
      await query.transaction().execute(async (transaction) => {
        await makeRoom(transaction, { owner, bytes, maxBytes, now: now() });
        const row = { id: kept.id, owner, body: text, bytes, expires_at: now() + keepMs };
        await transaction.insertInto('kept_results').values(row).execute();
      });
    } catch (error) {
      if (troubleOf(error) === undefined) throw error;
      return this.#memory.keep(owner, text);
    }
    this.#take(kept);
    return kept;
  }

  async find(owner: string, id: string): Promise<Found> {
    const here = await this.#memory.find(owner, id);
    if (here.state !== 'unknown') return here;
    const { database, keepMs, now } = this.#options;
    const { query } = await database();
    const { numUpdatedRows } = await query
      .updateTable('kept_results')
      .set({ expires_at: now() + keepMs })
      .where('id', '=', id)
      .where('owner', '=', owner)
      .where('expires_at', '>', now())
      .executeTakeFirst();
    if (numUpdatedRows === 0n) {
      this.#atHand.delete(id);
      const row = await query
        .selectFrom('kept_results')
        .select('owner')
        .where('id', '=', id)
        .executeTakeFirst();
      return { state: row?.owner === owner ? 'gone' : 'unknown' };
    }
    const known = this.#atHand.get(id);
    if (known !== undefined) return { state: 'kept', result: known };
    const row = await query.selectFrom('kept_results').select('body').where('id', '=', id).executeTakeFirst();
    if (row === undefined) return { state: 'gone' };
    const result = { id, text: row.body };
    this.#take(result);
    return { state: 'kept', result };
  }

  #take(result: KeptResult): void {
    this.#atHand.set(result.id, result);
    if (this.#atHand.size > MAX_AT_HAND) this.#atHand.delete(this.#atHand.keys().next().value as string); // It is not empty.
  }
}

/** What is over goes, and then what was not read for longest, of whoever has most. */
async function makeRoom(
  transaction: Transaction<Tables>,
  need: { readonly owner: string; readonly bytes: number; readonly maxBytes: number; readonly now: number },
): Promise<void> {
  const { owner, bytes, maxBytes, now } = need;
  const emptied = { body: '', bytes: 0, expires_at: now };
  await removeOverResults(transaction, now);
  const rows = await transaction
    .selectFrom('kept_results')
    .select(['id', 'owner', 'bytes'])
    .where('bytes', '>', 0)
    .orderBy('expires_at')
    .orderBy('id')
    .execute();
  const has = new Map([[owner, bytes]]);
  for (const row of rows) has.set(row.owner, (has.get(row.owner) ?? 0) + row.bytes);
  let total = [...has.values()].reduce((sum, each) => sum + each, 0);
  while (total > maxBytes) {
    const [victim] = [...has].toSorted((a, b) => b[1] - a[1])[0] ?? [owner];
    const at = rows.findIndex((row) => row.owner === victim);
    const [oldest] = rows.splice(at < 0 ? 0 : at, 1);
    if (oldest === undefined) return;
    total -= oldest.bytes;
    has.set(oldest.owner, (has.get(oldest.owner) ?? 0) - oldest.bytes);
    await transaction.updateTable('kept_results').set(emptied).where('id', '=', oldest.id).execute();
  }
}
