import { createHash } from 'node:crypto';

import { canonicalJson } from '../lib/canonical-json.ts';
import type { Fingerprint } from '../model/ids.ts';

/** 132 bits of SHA-256 over the value, whatever the order of its keys. */
export function fingerprintOf(value: unknown): Fingerprint {
  return fingerprintOfText(canonicalJson(value));
}

export function fingerprintOfText(text: string): Fingerprint {
  // The one place, beside what is read back from the store, where a string becomes a fingerprint.
  return createHash('sha256').update(text).digest('base64url').slice(0, 22) as Fingerprint;
}
