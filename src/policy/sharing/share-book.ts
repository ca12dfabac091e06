import type { Database } from '../../storage/database.ts';
import { databaseTime } from '../../storage/database-time.ts';
import { allot } from './allot.ts';

/** What this gateway asks of one limit. */
export interface Claim {
  readonly name: string;
  readonly limit: number;
  readonly wanted: number;
  readonly inUse: number;
  readonly share: number;
  /** Takes effect at once; told before others can have what is given up, and after they cannot have what is got. */
  use(share: number): void;
}

interface BookOptions {
  readonly database: Database;
  /** This gateway; no other one is called so. */
  readonly replica: string;
  /** Whoever dies with a share holds others up for no longer. */
  readonly leaseMs: number;
}

interface ShareRow {
  readonly name: string;
  readonly replica: string;
  readonly share: number;
  readonly wanted: number;
}

/** What cannot be divided goes round this often. */
const ROUND_MS = 1000;

/** Whether anybody wants more than there is. */
export async function settleShares(options: BookOptions, claims: readonly Claim[]): Promise<boolean> {
  const { database, replica, leaseMs } = options;
  const got = await database.query.transaction().execute(async (transaction) => {
    const { now } = await transaction
      .selectNoFrom(databaseTime(database).as('now'))
      .executeTakeFirstOrThrow();
    await transaction.deleteFrom('shares').where('until', '<=', now).execute();
    const names = claims.map(({ name }) => name);
    const rows = await transaction
      .selectFrom('shares')
      .select(['name', 'replica', 'share', 'wanted'])
      .where('name', 'in', names)
      .execute();
    const settled = claims.map((claim) => decided(claim, { rows, replica, now }));
    for (const { claim, share } of settled) if (share < claim.share) claim.use(share);
    const until = now + leaseMs;
    for (const { claim, share } of settled) {
      const row = { name: claim.name, replica, share, wanted: claim.wanted, until };
      await transaction
        .insertInto('shares')
        .values(row)
        .onConflict((conflict) => conflict.columns(['name', 'replica']).doUpdateSet(row))
        .execute();
    }
    return settled;
  });
  for (const { claim, share } of got) if (share > claim.share) claim.use(share);
  return got.some(({ isShort }) => isShort);
}

export async function giveUpShares(
  { database, replica }: Omit<BookOptions, 'leaseMs'>,
  names?: readonly string[],
): Promise<void> {
  if (names?.length === 0) return;
  const all = database.query.deleteFrom('shares').where('replica', '=', replica);
  await (names === undefined ? all : all.where('name', 'in', names)).execute();
}

function decided(
  claim: Claim,
  {
    rows,
    replica,
    now,
  }: { readonly rows: readonly ShareRow[]; readonly replica: string; readonly now: number },
): { readonly claim: Claim; readonly share: number; readonly isShort: boolean } {
  const same = rows.filter(({ name }) => name === claim.name);
  // By our own order, since databases have their own ideas of letters.
  const others = same
    .filter((row) => row.replica !== replica)
    .toSorted((one, other) => (one.replica < other.replica ? -1 : 1));
  // What the book does not have any more is another's by now, whatever we believe.
  const stored = same.find((row) => row.replica === replica)?.share ?? 0;
  const position = others.filter((row) => row.replica < replica).length;
  const turn = Math.floor(now / ROUND_MS);
  const { limit, wanted, inUse } = claim;
  const share = allot({ limit, own: { share: stored, wanted, inUse }, others, position, turn });
  const total = others.reduce((sum, row) => sum + row.wanted, wanted);
  return { claim, share, isShort: total > limit || wanted > share };
}
