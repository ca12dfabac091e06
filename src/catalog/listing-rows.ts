import type { Transaction } from 'kysely';

import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import { isJsonObject } from '../core/json.ts';
import type { Database } from '../core/storage/database.ts';
import type { Tables } from '../core/storage/tables.ts';
import { isEraVerdict } from './era-verdict-cache.ts';
import type { EraVerdict } from './era-verdict-cache.ts';
import { isListing } from './listing.ts';
import type { Listing } from './listing.ts';

export interface StoredCatalog {
  readonly listings: ReadonlyMap<UpstreamName, Listing>;
  readonly eras: ReadonlyMap<Fingerprint, EraVerdict>;
}

interface ReconcileOptions {
  /** The upstreams of the configuration with their fingerprints. */
  readonly configured: ReadonlyMap<UpstreamName, Fingerprint>;
  readonly now: number;
}

/** Increase this when the shape of `body` changes. Rows of another format are ignored, and the listings of their upstreams are fetched again. */
const FORMAT = 1;
/**
 * Rows of unknown servers are kept for a minute: another gateway may have just added a server that this
 * gateway does not know yet.
 */
const RECENT_MS = 60_000;

/**
 * Reconciles the tables with `known`: the newer of two listings of an upstream wins. Rows of another configuration are deleted, unless
 * they are newer than our listing of the upstream or, if we have none, less than a minute old. Returns the data that is newer in the
 * tables.
 */
export async function reconcileRows(
  database: Database,
  known: StoredCatalog,
  options: ReconcileOptions,
): Promise<StoredCatalog> {
  return database.query.transaction().execute(async (transaction) => {
    const { found, isWritten } = await reconcileListings(transaction, known.listings, options);
    if (isWritten) await database.changes.announce(transaction, 'listings');
    return { listings: found, eras: await reconcileEras(transaction, known.eras, options) };
  });
}

async function reconcileListings(
  transaction: Transaction<Tables>,
  known: StoredCatalog['listings'],
  { configured, now }: ReconcileOptions,
): Promise<{ readonly found: StoredCatalog['listings']; readonly isWritten: boolean }> {
  const storedAt = new Map<string, number>();
  const rows = await transaction
    .selectFrom('listings')
    .select(['upstream', 'fingerprint', 'listed_at'])
    .execute();
  for (const { upstream, fingerprint, listed_at } of rows) {
    // The cast is safe, because an unknown name is not in the map.
    const ours = known.get(upstream as UpstreamName);
    if (configured.get(upstream as UpstreamName) === fingerprint) storedAt.set(upstream, listed_at);
    // A gateway with another configuration wrote a newer row. Our listing counts as stored; otherwise both
    // gateways would replace each other's row forever.
    else if (ours !== undefined && listed_at >= ours.at && listed_at <= now) storedAt.set(upstream, ours.at);
    else if (ours === undefined && isRecent(listed_at, now)) continue;
    else await transaction.deleteFrom('listings').where('upstream', '=', upstream).execute();
  }
  await removeForeignShapes(transaction, { configured, now });
  const found = new Map<UpstreamName, Listing>();
  let isWritten = false;
  for (const upstream of configured.keys()) {
    const ours = known.get(upstream);
    const at = storedAt.get(upstream);
    // Both sides have the same listing, or neither has one.
    if (at === ours?.at) continue;
    // A row from the future was written with a wrong clock. It must not win over our listing, because it
    // would always win.
    const isBetter = at !== undefined && (ours === undefined || (at > ours.at && at <= now));
    const theirs = isBetter ? await readListingRow(transaction, upstream) : undefined;
    if (theirs !== undefined) found.set(upstream, theirs);
    else if (ours !== undefined) {
      await writeListingRow(transaction, ours);
      isWritten = true;
    }
  }
  return { found, isWritten };
}

/** Deletes what was learned about the tools of servers that were removed while no gateway ran. */
async function removeForeignShapes(
  transaction: Transaction<Tables>,
  { configured, now }: ReconcileOptions,
): Promise<void> {
  const old = transaction.deleteFrom('result_shapes').where('saved_at', '<=', now - RECENT_MS);
  const names = [...configured.keys()];
  await (names.length === 0 ? old : old.where('upstream', 'not in', names)).execute();
}

function isRecent(listedAt: number, now: number): boolean {
  return listedAt <= now && listedAt > now - RECENT_MS;
}

async function readListingRow(
  transaction: Transaction<Tables>,
  upstream: UpstreamName,
): Promise<Listing | undefined> {
  const row = await transaction
    .selectFrom('listings')
    .selectAll()
    .where('upstream', '=', upstream)
    .executeTakeFirst();
  const body = row === undefined ? undefined : parse(row.body);
  if (row === undefined || !isJsonObject(body) || body['format'] !== FORMAT) return undefined;
  const { format: _, ...entries } = body;
  const listing = { ...entries, upstream, config: row.fingerprint, at: row.listed_at };
  return isListing(listing) ? listing : undefined;
}

async function writeListingRow(transaction: Transaction<Tables>, listing: Listing): Promise<void> {
  const { upstream, config, at, ...entries } = listing;
  const row = { fingerprint: config, listed_at: at, body: JSON.stringify({ format: FORMAT, ...entries }) };
  await transaction
    .insertInto('listings')
    .values({ upstream, ...row })
    .onConflict((conflict) => conflict.column('upstream').doUpdateSet(row))
    .execute();
}

async function reconcileEras(
  transaction: Transaction<Tables>,
  known: StoredCatalog['eras'],
  { configured, now }: ReconcileOptions,
): Promise<StoredCatalog['eras']> {
  const found = new Map<Fingerprint, EraVerdict>();
  const configs = new Set<string>([...configured.values(), ...known.keys()]);
  for (const row of await transaction.selectFrom('eras').selectAll().execute()) {
    const fingerprint = row.fingerprint as Fingerprint; // The next line checks it against the configuration.
    if (!configs.has(fingerprint)) {
      await transaction.deleteFrom('eras').where('fingerprint', '=', fingerprint).execute();
      continue;
    }
    const verdict = { era: row.era, protocol: row.protocol, at: row.decided_at };
    const ours = known.get(fingerprint)?.at ?? -Infinity;
    if (verdict.at > ours && verdict.at <= now && isEraVerdict(verdict)) found.set(fingerprint, verdict);
  }
  for (const [fingerprint, { era, protocol, at }] of known) {
    if (found.has(fingerprint)) continue;
    await transaction
      .insertInto('eras')
      .values({ fingerprint, era, protocol, decided_at: at })
      .onConflict((conflict) => conflict.column('fingerprint').doUpdateSet({ era, protocol, decided_at: at }))
      .execute();
  }
  return found;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The listing of a damaged row is fetched again.
  }
}
