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
      if (chainHash(record, before) !== hash) {
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
  if (!isExpectedMet) return done({ message: 'The hash that was expected is not in the chain.' });
  return done();
}
