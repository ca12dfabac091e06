import { TokenMeter } from '../exposure/token-meter.ts';
import { dayOf } from '../lib/day-of.ts';
import type { AuditTrail } from '../observe/audit/audit-trail.ts';

/** Counts what clients are sent to know the tools, per day of this machine's clock. */
export function openMeter(audit: AuditTrail, now: () => number): TokenMeter {
  return new TokenMeter({
    save: async (counts) => void (await audit.ask('addTokens', { day: dayOf(new Date(now())), ...counts })),
  });
}
