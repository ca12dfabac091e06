import type { Tier } from '../../core/tier.ts';
import type { Output } from '../output.ts';

/** Returns green, yellow or red for tools that read, write or destroy. */
export function selectTierPaint(tier: Tier, paint: Output['paint']): (text: string) => string {
  if (tier === 'read') return paint.green;
  return tier === 'write' ? paint.yellow : paint.red;
}
