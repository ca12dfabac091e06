import { cut, widthOf, wrap } from './width.ts';

/** A text, or a text with what colours it once its width is settled. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

interface TableOptions {
  /** Of the terminal. */
  readonly width?: number;
  /** What happens to a last column that is too wide for it. */
  readonly last?: 'cut' | 'wrap';
}

const GAP = 2;
/** Below this nobody can read a column, so that the terminal had better break the lines. */
const LEAST = 12;

/** Columns of equal width, separated by two spaces; the last cell of a row is not padded. */
export function table(rows: readonly (readonly Cell[])[], options: TableOptions = {}): readonly string[] {
  const { width = Infinity, last = 'cut' } = options;
  const widths = fitting(naturalWidths(rows), width);
  const before = widths.reduce((sum, each) => sum + each + GAP, 0);
  const room = Math.max(LEAST, width - before);
  return rows.flatMap((row) => {
    const cells = row.slice(0, -1).map((cell, at) => padded(cell, widths[at] ?? 0));
    const end = row.at(-1) ?? '';
    const lines = last === 'wrap' && width !== Infinity ? wrap(textOf(end), room) : [cut(textOf(end), room)];
    const indent = ' '.repeat(widths.slice(0, cells.length).reduce((sum, each) => sum + each + GAP, 0));
    return lines.map((line, at) => {
      const shown = typeof end === 'string' ? line : end.paint(line);
      return (at === 0 ? [...cells, shown].join(' '.repeat(GAP)) : indent + shown).trimEnd();
    });
  });
}

function naturalWidths(rows: readonly (readonly Cell[])[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, widthOf(textOf(cell)));
    });
  }
  return widths;
}

/** Takes from the widest columns until the last one has some room. */
function fitting(natural: readonly number[], width: number): readonly number[] {
  const widths = [...natural];
  const room = width - LEAST - GAP * widths.length;
  for (let excess = widths.reduce((sum, each) => sum + each, 0) - room; excess > 0; excess--) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= LEAST) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function padded(cell: Cell, width: number): string {
  const text = cut(textOf(cell), width);
  const shown = typeof cell === 'string' ? text : cell.paint(text);
  return shown + ' '.repeat(Math.max(0, width - widthOf(text)));
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}
