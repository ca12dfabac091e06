import type { Fingerprint } from '../model/ids.ts';
import { isJsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';

export interface EraVerdict {
  readonly era: Era;
  readonly protocol: string;
  readonly at: number;
}

/** Which era an upstream spoke last, by the fingerprint of its config, so that connecting needs no probe. */
export interface EraMemory {
  recall(config: Fingerprint): EraVerdict | undefined;
  remember(config: Fingerprint, verdict: { readonly era: Era; readonly protocol: string }): void;
}

/** An old server is asked again each day whether it has learned the new protocol. */
const LEGACY_HOLDS_MS = 24 * 60 * 60 * 1000;

export function holds(verdict: EraVerdict, now: number): boolean {
  if (verdict.era === 'modern') return true;
  const age = now - verdict.at;
  return age >= 0 && age <= LEGACY_HOLDS_MS; // From the future means that a clock was wrong.
}

export function isEraVerdict(value: unknown): value is EraVerdict {
  return (
    isJsonObject(value) &&
    (value['era'] === 'legacy' || value['era'] === 'modern') &&
    typeof value['protocol'] === 'string' &&
    typeof value['at'] === 'number'
  );
}
