/** Terminals with fewer columns omit the year. */
const NARROW = 80;

/** Formats a time. On a terminal, times of today have no date, and older ones no seconds. */
export function formatTime(
  at: number,
  { now, width }: { readonly now: number; readonly width: number },
): string {
  const text = new Date(at).toLocaleString('sv');
  if (width === Infinity) return text;
  const day = text.slice(0, 10);
  if (day === new Date(now).toLocaleString('sv').slice(0, 10)) return text.slice(11);
  return width < NARROW ? text.slice(5, 16) : text.slice(0, 16);
}
