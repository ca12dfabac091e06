import type { Transaction } from 'kysely';

import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import { isJsonObject } from '../model/json.ts';
import type { Database } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';
import { isEraVerdict } from './era-memory.ts';
import type { EraVerdict } from './era-memory.ts';
import { isListing } from './listing.ts';
import type { Listing } from './listing.ts';

export interface Remembered {
  readonly listings: ReadonlyMap<UpstreamName, Listing>;
  readonly eras: ReadonlyMap<Fingerprint, EraVerdict>;
}

interface Wanted {
  /** The upstreams of the config with their fingerprints. */
  readonly wanted: ReadonlyMap<UpstreamName, Fingerprint>;
  readonly now: number;
}

/** Raise when the shape of `body` changes; rows of another format are listed anew. */
const FORMAT = 1;
/** Somebody else has just added a server that we hear of in a moment; later, nobody knows it any more. */
const YOUNG_MS = 60_000;

/**
 * Makes the tables and `known` agree: of two listings of an upstream the newer one counts, and what the config no
 * longer names goes, unless it is newer than ours or was listed a moment ago. Gives what the tables knew better.
 */
export async function reconcile(database: Database, known: Remembered, options: Wanted): Promise<Remembered> {
  return database.query.transaction().execute(async (transaction) => {
    const { found, isWritten } = await reconcileListings(transaction, known.listings, options);
    if (isWritten) await database.changes.announce(transaction, 'listings');
    return { listings: found, eras: await reconcileEras(transaction, known.eras, options) };
  });
}

async function reconcileListings(
  transaction: Transaction<Tables>,
  known: Remembered['listings'],
  { wanted, now }: Wanted,
): Promise<{ readonly found: Remembered['listings']; readonly isWritten: boolean }> {
  const stored = new Map<string, number>();
  const heads = await transaction
    .selectFrom('listings')
    .select(['upstream', 'fingerprint', 'listed_at'])
    .execute();
  for (const { upstream, fingerprint, listed_at } of heads) {
    // The cast only asks the map; what it does not have is not wanted.
    const ours = known.get(upstream as UpstreamName);
    if (wanted.get(upstream as UpstreamName) === fingerprint) stored.set(upstream, listed_at);
    // It is of a gateway with another config, which would replace ours as soon as it hears of it.
    else if (ours !== undefined && listed_at >= ours.at && listed_at <= now) stored.set(upstream, ours.at);
    else if (ours === undefined && isYoung(listed_at, now)) continue;
    else await transaction.deleteFrom('listings').where('upstream', '=', upstream).execute();
  }
  const found = new Map<UpstreamName, Listing>();
  let isWritten = false;
  for (const upstream of wanted.keys()) {
    const ours = known.get(upstream);
    const at = stored.get(upstream);
    if (at === ours?.at) continue;
    // A row from the future was written with a wrong clock and would win for ever.
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

function isYoung(listedAt: number, now: number): boolean {
  return listedAt <= now && listedAt > now - YOUNG_MS;
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
  known: Remembered['eras'],
  { wanted, now }: Wanted,
): Promise<Remembered['eras']> {
  const found = new Map<Fingerprint, EraVerdict>();
  const configs = new Set<string>([...wanted.values(), ...known.keys()]);
  for (const row of await transaction.selectFrom('eras').selectAll().execute()) {
    const fingerprint = row.fingerprint as Fingerprint; // Checked against the config by the next line.
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
    return undefined; // A damaged row is listed anew.
  }
}
