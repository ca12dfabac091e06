import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { writeFileAtomic } from '../lib/atomic-file.ts';
import type { Fingerprint } from '../model/ids.ts';
import { isJsonObject } from '../model/json.ts';
import { isEraVerdict } from './era-memory.ts';
import type { EraVerdict } from './era-memory.ts';
import { isListing } from './listing.ts';
import type { Listing } from './listing.ts';

/** The validated config of the last run, opaque here; the caller compares the revision. */
export interface RememberedConfig {
  readonly revision: string;
  readonly snapshot: unknown;
}

/** What a warm start needs to answer before the database is open. Derived: losing it costs time only. */
export interface WarmState {
  readonly config: RememberedConfig | undefined;
  readonly listings: readonly Listing[];
  readonly eras: ReadonlyMap<Fingerprint, EraVerdict>;
  /** Whether the database had the same when this was written. */
  readonly isStored: boolean;
}

const FORMAT = 2;

/** The file begins with the digest of all that follows: what it holds is obeyed, so not one byte of it may be another. */
const DIGEST = /^\{"digest":"([\w-]{43})",/;
const HEAD_BYTES = 64;

/** Undefined when the file is missing, damaged or of another build of the program; it is derived and will be written anew. */
export function readWarm(
  stateDir: string,
  build: string,
  onDamaged: () => void = () => {},
): WarmState | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(warmFile(stateDir));
  } catch {
    return undefined; // Missing; whatever else it is, the writing of the next one will tell.
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

export async function writeWarm(stateDir: string, build: string, state: WarmState): Promise<void> {
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
    await nextTurn(); // Writing out thousands of tools at once would hold up calls.
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
