/** The row that a key leads to; undefined for keys that mean nothing here. */
export function moveTo(key: string, at: number, rows: number, page: number): number | undefined {
  const last = rows - 1;
  const step = Math.max(1, page);
  switch (key) {
    case 'ArrowDown':
      return Math.min(last, at + 1);
    case 'ArrowUp':
      return Math.max(0, at - 1);
    case 'PageDown':
      return Math.min(last, at + step);
    case 'PageUp':
      return Math.max(0, at - step);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}
