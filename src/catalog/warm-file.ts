import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { writeFileAtomic } from '../core/lib/write-file-atomic.ts';
import type { Fingerprint } from '../core/ids.ts';
import { isJsonObject } from '../core/json.ts';
import { isEraVerdict } from './era-verdict-cache.ts';
import type { EraVerdict } from './era-verdict-cache.ts';
import { isListing } from './listing.ts';
import type { Listing } from './listing.ts';

/** The validated configuration of the last run. It is opaque here; the caller uses it only if the revision is current. */
export interface RememberedConfig {
  readonly revision: string;
  readonly snapshot: unknown;
}

/**
 * The data that a warm start needs to answer before the database is open. It can be rebuilt, so losing it
 * only costs time.
 */
export interface WarmState {
  readonly config: RememberedConfig | undefined;
  readonly listings: readonly Listing[];
  readonly eras: ReadonlyMap<Fingerprint, EraVerdict>;
  /** Whether the database had the same data when the file was written. */
  readonly isStored: boolean;
}

/** Increase this when the shape of the file changes; a file of another format is not used. */
const FORMAT = 2;

/**
 * The file begins with the SHA-256 digest of the rest, in 43 characters of base64url. The configuration in the file is used without being
 * validated again, so every byte must be intact.
 */
const DIGEST = /^\{"digest":"([\w-]{43})",/;
/** Enough for the part that `DIGEST` matches, which has 56 bytes. */
const HEAD_BYTES = 64;

/** Returns undefined if the file is missing, damaged or from another build of the program; it will be written again. */
export function readWarmFile(
  stateDir: string,
  build: string,
  onDamaged: () => void = () => {},
): WarmState | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(warmFile(stateDir));
  } catch {
    return undefined; // The file is usually missing; any other problem is reported when the file is written.
  }
  const [head = '', digest] = DIGEST.exec(bytes.toString('latin1', 0, HEAD_BYTES)) ?? [];
  if (digest === undefined || digestOf(bytes.subarray(head.length)) !== digest) {
    onDamaged();
    return undefined;
  }
  const value: unknown = JSON.parse(bytes.toString('utf8'));
  if (!isJsonObject(value) || value['format'] !== FORMAT || value['build'] !== build) return undefined;
  const { config, listings, eras, isStored } = value;
  if (!Array.isArray(listings) || !listings.every(isListing) || !isJsonObject(eras)) return undefined;
  const verdicts = Object.entries(eras).filter((pair): pair is [Fingerprint, EraVerdict] =>
    isEraVerdict(pair[1]),
  );
  return {
    config:
      isJsonObject(config) && typeof config['revision'] === 'string'
        ? { revision: config['revision'], snapshot: config['snapshot'] }
        : undefined,
    listings,
    eras: new Map(verdicts),
    isStored: isStored === true,
  };
}

export async function writeWarmFile(stateDir: string, build: string, state: WarmState): Promise<void> {
  const { config, isStored } = state;
  const head = JSON.stringify({
    format: FORMAT,
    build,
    isStored,
    config,
    eras: Object.fromEntries(state.eras),
  });
  const listings: string[] = [];
  for (const listing of state.listings) {
    listings.push(JSON.stringify(listing));
    await nextTurn(); // Serializing thousands of tools in one turn would delay calls.
  }
  const rest = `${head.slice(1, -1)},"listings":[${listings.join(',')}]}\n`;
  await writeFileAtomic(warmFile(stateDir), `{"digest":"${digestOf(rest)}",${rest}`, 0o600);
}

function digestOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('base64url');
}

function warmFile(stateDir: string): string {
  return join(stateDir, 'catalog.json');
}
