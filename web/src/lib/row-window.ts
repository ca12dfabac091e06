/** The rows of a long list to render, and the height in pixels of the rows before and after them. */
export interface RowWindow {
  readonly first: number;
  /** The index after the last row. */
  readonly end: number;
  readonly before: number;
  readonly after: number;
}

/** The number of invisible rows that are rendered on each side, so that fast scrolling shows no gaps. */
const OVERSCAN = 8;

/** Selects the rows near the visible part of a list whose rows all have the same height. */
export function computeRowWindow(rows: number, rowHeight: number, top: number, height: number): RowWindow {
  const first = Math.max(0, Math.min(rows, Math.floor(top / rowHeight)) - OVERSCAN);
  const end = Math.min(rows, Math.ceil((top + height) / rowHeight) + OVERSCAN);
  return {
    first,
    end: Math.max(first, end),
    before: first * rowHeight,
    after: Math.max(0, rows - Math.max(first, end)) * rowHeight,
  };
}
