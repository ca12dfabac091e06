import { sql } from 'kysely';

import type { Database } from '../../storage/database.ts';
import { recordOf } from './audit-row.ts';
import { chainHash } from './chain-hash.ts';

/** Whether the record is what was written. */
export interface ChainVerdict {
  readonly ok: boolean;
  /** Chained records that were checked. */
  readonly checked: number;
  /** Records that were written while there was no chain. */
  readonly unchained: number;
  /** The hash of the newest record, to be noted elsewhere. */
  readonly head?: string;
  /** The first thing that is wrong. */
  readonly problem?: { readonly seq?: number; readonly message: string };
}

const PAGE = 1000;

/** Reads the whole chain. `expect` is a hash that was noted earlier: it must still be there. */
export async function verifyChain({ query }: Database, expect: string | undefined): Promise<ChainVerdict> {
  const ends = await query.selectFrom('audit_ends').selectAll().executeTakeFirst();
  let before = ends?.base ?? '';
  let [checked, unchained] = [0, 0];
  let isExpectedMet = expect === undefined || expect === before;
  const done = (problem?: ChainVerdict['problem']): ChainVerdict => ({
    ok: problem === undefined,
    checked,
    unchained,
    ...(checked > 0 && { head: before }),
    ...(problem !== undefined && { problem }),
  });
  for (let after = 0, isMore = true; isMore;) {
    const rows = await query
      .selectFrom('audit')
      .selectAll()
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(PAGE)
      .execute();
    for (const row of rows) {
      const { hash, ...record } = recordOf(row);
      if (hash === undefined) {
        unchained++;
        continue;
      }
      if (chainHash({ common: record, own: record }, before) !== hash) {
        const message = 'This record, or one right before it, was changed, removed, added or moved.';
        return done({ seq: row.seq, message });
      }
      checked++;
      before = hash;
      if (hash === expect) isExpectedMet = true;
    }
    isMore = rows.length === PAGE;
    after = rows.at(-1)?.seq ?? after;
  }
  if ((ends?.head ?? '') !== (checked > 0 ? before : (ends?.base ?? '')))
    return done({ message: 'The newest records were removed: the chain ends before its stored end.' });
  if (ends !== undefined && ends.chained !== checked)
    return done({ message: `${ends.chained} chained records should be there, ${checked} are.` });
  const hidden = checked > 0 ? await hiddenFromTimes(query) : undefined;
  if (hidden !== undefined)
    return done({ seq: hidden, message: 'Who asks for the time of this record would not be shown it.' });
  if (!isExpectedMet) return done({ message: 'The hash that was expected is not in the chain.' });
  return done();
}

/** The first record that is not among those of its time and number; no hash is over where times are looked up. */
async function hiddenFromTimes(query: Database['query']): Promise<number | undefined> {
  const { rows } = await sql<{ seq: number | null }>`
    select min(records.seq) as seq from audit_records as records join audit_commons as commons on commons.id = records.common
    where coalesce(records.at between first_at and last_at and records.seq between id and last_seq, false) = false`.execute(
    query,
  );
  return rows[0]?.seq ?? undefined;
}
