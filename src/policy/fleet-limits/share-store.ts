import { databaseTime } from '../../core/storage/database-time.ts';
import type { Database } from '../../core/storage/database.ts';
import { allocateShare } from './allocate-share.ts';

/** The demand of this gateway for one limit. */
export interface ShareClaim {
  readonly name: string;
  readonly limit: number;
  readonly wanted: number;
  readonly inUse: number;
  readonly share: number;
  /**
   * Puts a share into effect. `updateShares` applies a smaller share before the transaction commits, because
   * other gateways can claim the difference after the commit. It applies a larger share only after the
   * commit.
   */
  applyShare(share: number): void;
}

interface ShareStoreOptions {
  readonly database: Database;
  /** Unique id of this gateway. */
  readonly replica: string;
  /**
   * Time in milliseconds for which the share of a gateway stays reserved after its last update, for example
   * after a crash.
   */
  readonly leaseMs: number;
}

interface ShareRow {
  readonly name: string;
  readonly replica: string;
  readonly share: number;
  readonly wanted: number;
}

/** Interval at which an indivisible remainder moves to the next gateway. */
const TURN_MS = 1000;

/**
 * Allocates shares for all claims in one transaction. Returns whether any claim is short: all gateways
 * together want more than the limit, or this one wants more than its share.
 */
export async function updateShares(
  { database, replica, leaseMs }: ShareStoreOptions,
  claims: readonly ShareClaim[],
): Promise<boolean> {
  const allocations = await database.query.transaction().execute(async (transaction) => {
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
    const allocated = claims.map((claim) => allocate(claim, { rows, replica, now }));
    for (const { claim, share } of allocated) if (share < claim.share) claim.applyShare(share);
    const until = now + leaseMs;
    for (const { claim, share, wanted } of allocated) {
      const row = { name: claim.name, replica, share, wanted, until };
      await transaction
        .insertInto('shares')
        .values(row)
        .onConflict((conflict) => conflict.columns(['name', 'replica']).doUpdateSet(row))
        .execute();
    }
    return allocated;
  });
  for (const { claim, share } of allocations) if (share > claim.share) claim.applyShare(share);
  return allocations.some(({ isShort }) => isShort);
}

function allocate(
  claim: ShareClaim,
  {
    rows,
    replica,
    now,
  }: { readonly rows: readonly ShareRow[]; readonly replica: string; readonly now: number },
): {
  readonly claim: ShareClaim;
  readonly share: number;
  readonly wanted: number;
  readonly isShort: boolean;
} {
  const rowsOfLimit = rows.filter(({ name }) => name === claim.name);
  // The rows are sorted here, because databases differ in their collation and all gateways need the same order.
  const others = rowsOfLimit
    .filter((row) => row.replica !== replica)
    .toSorted((one, other) => (one.replica < other.replica ? -1 : 1));
  // If the row of this gateway has expired, another gateway may already hold its share.
  const storedShare = rowsOfLimit.find((row) => row.replica === replica)?.share ?? 0;
  const position = others.filter((row) => row.replica < replica).length;
  const turn = Math.floor(now / TURN_MS);
  // The demand is read only once, because reading it may start a new measurement.
  const { limit, wanted, inUse } = claim;
  const share = allocateShare({ limit, own: { share: storedShare, wanted, inUse }, others, position, turn });
  const totalWanted = others.reduce((sum, row) => sum + row.wanted, wanted);
  return { claim, share, wanted, isShort: totalWanted > limit || wanted > share };
}

/** Releases the shares of this gateway in the limits with these names, or in all limits if `names` is absent. */
export async function releaseShares(
  { database, replica }: Omit<ShareStoreOptions, 'leaseMs'>,
  names?: readonly string[],
): Promise<void> {
  if (names?.length === 0) return;
  const all = database.query.deleteFrom('shares').where('replica', '=', replica);
  await (names === undefined ? all : all.where('name', 'in', names)).execute();
}
