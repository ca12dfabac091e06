/** Formats a duration in its most readable unit, for example `5 min`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.round(Math.max(0, ms) / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  const hours = Math.round(seconds / 3600);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
