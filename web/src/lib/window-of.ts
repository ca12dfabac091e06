export interface Slice {
  readonly first: number;
  /** The first that is not in it. */
  readonly end: number;
  readonly before: number;
  readonly after: number;
}

const OVERSCAN = 8;

/** Which of many rows of one height are near what is visible, and how much room the others take. */
export function windowOf(rows: number, rowHeight: number, top: number, height: number): Slice {
  const first = Math.max(0, Math.min(rows, Math.floor(top / rowHeight)) - OVERSCAN);
  const end = Math.min(rows, Math.ceil((top + height) / rowHeight) + OVERSCAN);
  return {
    first,
    end: Math.max(first, end),
    before: first * rowHeight,
    after: Math.max(0, rows - Math.max(first, end)) * rowHeight,
  };
}
