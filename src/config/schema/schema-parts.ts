import { z } from 'zod';

import { durationPattern, maxDurationMs, parseDuration } from '../duration.ts';

const durationHint = 'must be a duration such as "500ms", "30s", "5m" or "1h", or a number of milliseconds';

/** A duration as text or number; its output is in milliseconds. */
export function duration(minMs: number) {
  return z
    .union(
      [z.string().regex(durationPattern, { error: durationHint }), z.int().min(minMs).max(maxDurationMs)],
      { error: durationHint },
    )
    .transform((value, context) => {
      const ms = typeof value === 'string' ? parseDuration(value) : value;
      if (ms !== undefined && ms >= minMs) return ms;
      const message = ms === undefined ? 'must be at most 24 days' : `must be at least ${minMs} ms`;
      context.issues.push({ code: 'custom', input: value, message });
      return z.NEVER;
    })
    .meta({ title: 'duration' });
}

export const nonEmptyString = z.string().min(1);
export const nonEmptyStrings = z.array(nonEmptyString);
export const wholeNumber = (min: number, max: number) => z.int().min(min).max(max);
