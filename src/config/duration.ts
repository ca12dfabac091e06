const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Matches the form that `parseDuration` accepts; used by schemas. */
export const durationPattern = /^\d+(?:\.\d+)?(?:ms|s|m|h)$/;

/** The longest delay of a Node timer, about 24.8 days. A timer with a longer delay would fire immediately. */
export const maxDurationMs = 2 ** 31 - 1;

/** Returns the milliseconds of a text such as "500ms", "30s", "5m" or "1.5h", or undefined if it is invalid or too long. */
export function parseDuration(text: string): number | undefined {
  if (!durationPattern.test(text)) return undefined;
  const unit = text.endsWith('ms') ? 'ms' : (text.at(-1) as 's' | 'm' | 'h'); // The pattern allows no other unit.
  const ms = Math.round(Number(text.slice(0, -unit.length)) * UNITS[unit]);
  return ms <= maxDurationMs ? ms : undefined;
}
