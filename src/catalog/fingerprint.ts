import { createHash } from 'node:crypto';

import { canonicalJson } from '../core/lib/canonical-json.ts';
import type { Fingerprint } from '../core/ids.ts';

/** Returns the fingerprint of a JSON value: the first 132 bits of a SHA-256, independent of the order of keys. */
export function fingerprintOf(value: unknown): Fingerprint {
  return fingerprintOfText(canonicalJson(value));
}

export function fingerprintOfText(text: string): Fingerprint {
  // Apart from reading the store, this is the only place that casts a string to a fingerprint.
  return createHash('sha256').update(text).digest('base64url').slice(0, 22) as Fingerprint;
}
