import type { Tier } from '../../model/tier.ts';
import type { Output } from '../output.ts';

/** The more a call can do, the louder. */
export function tierPaint(tier: Tier, paint: Output['paint']): (text: string) => string {
  if (tier === 'read') return paint.green;
  return tier === 'write' ? paint.yellow : paint.red;
}
