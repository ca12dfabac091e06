import { cut, widthOf, wrap } from './width.ts';

/** A text, or a text with what colours it once its width is settled. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

export interface TableOptions {
  /** Of the terminal. */
  readonly width?: number;
  /** What happens to a last column that is too wide for it. */
  readonly last?: 'cut' | 'wrap';
  /** Columns that a narrow terminal does without, by number, the least important first; else those before the last one. */
  readonly drop?: readonly number[];
  /** The first column has names, which people copy: they are never cut, and what has no room beside them goes below. */
  readonly isNamed?: boolean;
  /** The first row says what the columns are. */
  readonly hasHead?: boolean;
  /** Columns, by number, that say something only when they are whole: they are left out rather than cut. */
  readonly whole?: readonly number[];
  /** What is said below a row, over as many lines as it takes. */
  readonly below?: readonly (Cell | undefined)[];
}

const GAP = 2;
/** Below this nobody can read a column, so that it had better be left out. */
const LEAST = 12;
/** What is said about names wants this much; a longer name stands in a line of its own, so that it takes no room from all others. */
const ABOUT = 40;
/** Below this a name and what is said about it share a line only by giving way to each other. */
const NARROW = 72;

/** Columns of equal width, separated by two spaces; the last cell of a row is not padded. No line is wider than the terminal. */
export function table(all: readonly (readonly Cell[])[], options: TableOptions = {}): readonly string[] {
  const { width = Infinity, last = 'cut', isNamed = false, below = [] } = options;
  const long = isNamed ? longNames(all, width) : [];
  const { rows, columns } = kept(withoutNames(all, long), width, options);
  const isWhole = (at: number): boolean => isKept(columns[at] ?? at, options);
  const least = Math.max(1, Math.min(LEAST, Math.floor((width - GAP) / 2)));
  const natural = naturalWidths(rows);
  if (isNamed && (natural[0] ?? 0) + GAP + least > width) return stacked(all, options);
  const end = isWhole(natural.length)
    ? Math.max(...rows.map((row) => widthOf(textOf(row.at(-1) ?? ''))))
    : least;
  const widths = fitting(natural, { room: width - end, least, isWhole });
  const before = widths.reduce((sum, each) => sum + each + GAP, 0);
  const room = Math.max(least, width - before);
  return rows.flatMap((row, number) => {
    const cells = row.slice(0, -1).map((cell, at) => padded(cell, widths[at] ?? 0));
    const end = row.at(-1) ?? '';
    const lines = last === 'wrap' && width !== Infinity ? wrap(textOf(end), room) : [cut(textOf(end), room)];
    const indent = ' '.repeat(widths.slice(0, cells.length).reduce((sum, each) => sum + each + GAP, 0));
    const shown = lines.map((line, at) => {
      const text = typeof end === 'string' ? line : end.paint(line);
      return (at === 0 ? [...cells, text].join(' '.repeat(GAP)) : indent + text).trimEnd();
    });
    return [...namedAbove(long[number]), ...shown, ...said(below[number], width)];
  });
}

/** The names that are too long to have something beside them, each in the place of its row; on a narrow terminal none is. */
function longNames(rows: readonly (readonly Cell[])[], width: number): readonly (Cell | undefined)[] {
  if (width === Infinity || width < NARROW) return [];
  return rows.map(([name = '']) => (widthOf(textOf(name)) > width - ABOUT ? name : undefined));
}

function withoutNames(
  rows: readonly (readonly Cell[])[],
  long: readonly (Cell | undefined)[],
): readonly (readonly Cell[])[] {
  return rows.map((row, at) => (long[at] === undefined ? row : ['', ...row.slice(1)]));
}

function namedAbove(name: Cell | undefined): readonly string[] {
  if (name === undefined) return [];
  return [typeof name === 'string' ? name : name.paint(name.text)];
}

/** What goes below a row, a little to the right of where it begins. */
function said(cell: Cell | undefined, width: number): readonly string[] {
  if (cell === undefined) return [];
  const lines = width === Infinity ? [textOf(cell)] : wrap(textOf(cell), width - GAP);
  return lines.map((line) => ' '.repeat(GAP) + (typeof cell === 'string' ? line : cell.paint(line)));
}

function isKept(at: number, { isNamed = false, whole = [] }: TableOptions): boolean {
  return (isNamed && at === 0) || whole.includes(at);
}

/** Leaves out columns that say nothing, and others until each of the rest has room for something that can be read. */
function kept(
  rows: readonly (readonly Cell[])[],
  width: number,
  options: TableOptions,
): { readonly rows: readonly (readonly Cell[])[]; readonly columns: readonly number[] } {
  if (width === Infinity) return { rows, columns: [] };
  const needs: number[] = [];
  for (const row of rows)
    row.forEach((cell, at) => {
      const own = widthOf(textOf(cell));
      needs[at] = Math.max(needs[at] ?? 0, isKept(at, options) ? own : Math.min(LEAST, own));
    });
  const left = new Set(
    [...needs.keys()].filter((at) => at === 0 || options.isNamed === true || needs[at] !== 0),
  );
  const before = [...needs.keys()].slice(1, -1).toReversed();
  for (const at of [...(options.drop ?? []), ...before]) {
    const needed = [...left].reduce((sum, each) => sum + (needs[each] ?? 0) + GAP, -GAP);
    if (needed <= width) break;
    left.delete(at);
  }
  if (left.size === needs.length) return { rows, columns: [] };
  return { rows: rows.map((row) => row.filter((_, at) => left.has(at))), columns: [...left] };
}

/** A name, and below it what is said about it. */
function stacked(
  rows: readonly (readonly Cell[])[],
  { width = Infinity, hasHead = false }: TableOptions,
): readonly string[] {
  const indent = ' '.repeat(GAP);
  return rows.slice(hasHead ? 1 : 0).flatMap((row) => {
    const [name = '', end = ''] = [row[0], row.length > 1 ? row.at(-1) : ''];
    const shown = (cell: Cell, text: string): string => (typeof cell === 'string' ? text : cell.paint(text));
    const about = cut(textOf(end), width - GAP);
    return [shown(name, textOf(name)), ...(about === '' ? [] : [indent + shown(end, about)])];
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
function fitting(
  natural: readonly number[],
  {
    room: all,
    least,
    isWhole,
  }: { readonly room: number; readonly least: number; readonly isWhole: (at: number) => boolean },
): readonly number[] {
  const widths = [...natural];
  const room = all - GAP * widths.length;
  for (let excess = widths.reduce((sum, each) => sum + each, 0) - room; excess > 0; excess--) {
    const cuttable = [...widths.keys()].filter((at) => !isWhole(at));
    const widest = cuttable.toSorted((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0];
    if (widest === undefined || (widths[widest] ?? 0) <= least) break;
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
