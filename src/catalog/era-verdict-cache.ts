import type { Fingerprint } from '../core/ids.ts';
import { isJsonObject } from '../core/json.ts';
import type { Era } from '../core/server-facts.ts';

/** The protocol era that a probe of an upstream found. */
export interface EraVerdict {
  readonly era: Era;
  /** The negotiated protocol version. */
  readonly protocol: string;
  /** When the upstream was probed, in milliseconds since the epoch. */
  readonly at: number;
}

/** Remembers the protocol era of each upstream by the fingerprint of its configuration, so connecting needs no probe. */
export interface EraVerdictCache {
  recall(config: Fingerprint): EraVerdict | undefined;
  remember(config: Fingerprint, verdict: { readonly era: Era; readonly protocol: string }): void;
}

/** How long a `legacy` verdict is valid: a legacy server is probed for the modern protocol once a day. */
const LEGACY_VALID_MS = 24 * 60 * 60 * 1000;

/** Whether a verdict can still be used without a new probe. A `modern` verdict never expires. */
export function isEraVerdictValid(verdict: EraVerdict, now: number): boolean {
  if (verdict.era === 'modern') return true;
  const age = now - verdict.at;
  return age >= 0 && age <= LEGACY_VALID_MS; // A negative age means that a clock was wrong.
}

export function isEraVerdict(value: unknown): value is EraVerdict {
  return (
    isJsonObject(value) &&
    (value['era'] === 'legacy' || value['era'] === 'modern') &&
    typeof value['protocol'] === 'string' &&
    typeof value['at'] === 'number'
  );
}
