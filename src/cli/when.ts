/** Columns of a terminal. */
const NARROW = 80;

/** A moment as short as it can be told: on a terminal the time of day is enough for today. */
export function when(at: number, { now, width }: { readonly now: number; readonly width: number }): string {
  const text = new Date(at).toLocaleString('sv');
  if (width === Infinity) return text;
  const day = text.slice(0, 10);
  if (day === new Date(now).toLocaleString('sv').slice(0, 10)) return text.slice(11);
  // Without the year a time still can be read where a column is narrow.
  return width < NARROW ? text.slice(5, 16) : text.slice(0, 16);
}
