import { truncate, displayWidth, wrapText } from './display-width.ts';

/** A text, optionally with a function that colours it after it was fitted to its column. */
export type TableCell = string | { readonly text: string; readonly paint: (text: string) => string };

export interface TableOptions {
  /** The number of columns of the terminal. */
  readonly width?: number;
  /** Whether a last column that is too wide is cut (the default) or wrapped. */
  readonly lastColumn?: 'cut' | 'wrap';
  /**
   * Indices of the columns that a narrow terminal omits first, in this order. Then it omits the others from right to left, except the
   * first and the last.
   */
  readonly dropOrder?: readonly number[];
  /** Whether the first column contains names, which users copy. Names are never cut; the other cells move below them if there is no room. */
  readonly hasNameColumn?: boolean;
  /** Whether the first row contains the column titles. */
  readonly hasHeader?: boolean;
  /** Indices of columns that are omitted rather than cut, such as times. */
  readonly wholeColumns?: readonly number[];
  /** Texts below the rows, by index of the row. They wrap. */
  readonly notes?: readonly (TableCell | undefined)[] | undefined;
}

/** The number of spaces between two columns. */
const GAP = 2;
/** A narrower column is unreadable, so it is omitted. */
const MIN_COLUMN_WIDTH = 12;
/** The minimum number of terminal columns beside a name. A name that leaves fewer gets a line of its own, so that it does not narrow all rows. */
const ROOM_BESIDE_NAMES = 40;
/** On terminals with fewer columns, long names do not get lines of their own. All rows are stacked instead if names need the room. */
const NARROW = 72;

/**
 * Aligns rows in columns separated by two spaces. The last cell of a row is not padded. Only names, which are never cut, can make a
 * line wider than the terminal.
 */
export function formatTable(
  all: readonly (readonly TableCell[])[],
  options: TableOptions = {},
): readonly string[] {
  const { width = Infinity, lastColumn = 'cut', hasNameColumn = false, notes = [] } = options;
  const longNames = hasNameColumn ? findLongNames(all, width) : [];
  const { rows, columns } = selectColumns(removeNames(all, longNames), width, options);
  const isWhole = (index: number): boolean => isUncuttable(columns[index] ?? index, options);
  const minWidth = Math.max(1, Math.min(MIN_COLUMN_WIDTH, Math.floor((width - GAP) / 2)));
  const natural = measureColumns(rows);
  if (hasNameColumn && (natural[0] ?? 0) + GAP + minWidth > width) return formatStacked(all, options);
  // `natural` lacks the last column, so its length is the index of the last column.
  const lastWidth = isWhole(natural.length)
    ? Math.max(...rows.map((row) => displayWidth(cellText(row.at(-1) ?? ''))))
    : minWidth;
  const widths = shrinkColumns(natural, { room: width - lastWidth, minWidth, isWhole });
  const room = Math.max(minWidth, width - sumWidths(widths));
  return rows.flatMap((row, index) => {
    const cells = row.slice(0, -1).map((cell, column) => padCell(cell, widths[column] ?? 0));
    const lastCell = row.at(-1) ?? '';
    const text = cellText(lastCell);
    const lines = lastColumn === 'wrap' && width !== Infinity ? wrapText(text, room) : [truncate(text, room)];
    const indent = ' '.repeat(sumWidths(widths.slice(0, cells.length)));
    const rowLines = lines.map((line, at) => {
      const painted = paintText(lastCell, line);
      return (at === 0 ? [...cells, painted].join(' '.repeat(GAP)) : indent + painted).trimEnd();
    });
    return [...formatNameLine(longNames[index]), ...rowLines, ...formatNote(notes[index], width)];
  });
}

/** Returns the sum of the widths, with the gap after each column. */
function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP, 0);
}

/** Returns, by index of the row, the names that leave too little room beside them. On a narrow terminal there are none. */
function findLongNames(
  rows: readonly (readonly TableCell[])[],
  width: number,
): readonly (TableCell | undefined)[] {
  if (width === Infinity || width < NARROW) return [];
  return rows.map(([name = '']) =>
    displayWidth(cellText(name)) > width - ROOM_BESIDE_NAMES ? name : undefined,
  );
}

function removeNames(
  rows: readonly (readonly TableCell[])[],
  names: readonly (TableCell | undefined)[],
): readonly (readonly TableCell[])[] {
  return rows.map((row, index) => (names[index] === undefined ? row : ['', ...row.slice(1)]));
}

function formatNameLine(name: TableCell | undefined): readonly string[] {
  return name === undefined ? [] : [paintText(name, cellText(name))];
}

/** Formats the text below a row, indented. */
function formatNote(cell: TableCell | undefined, width: number): readonly string[] {
  if (cell === undefined) return [];
  const lines = width === Infinity ? [cellText(cell)] : wrapText(cellText(cell), width - GAP);
  return lines.map((line) => ' '.repeat(GAP) + paintText(cell, line));
}

function isUncuttable(
  at: number,
  { hasNameColumn: isNamed = false, wholeColumns: whole = [] }: TableOptions,
): boolean {
  return (isNamed && at === 0) || whole.includes(at);
}

/**
 * Omits empty columns, and then others until each remaining column has its minimum width. Returns the original indices of the
 * remaining columns; the list is empty if no column was omitted.
 */
function selectColumns(
  rows: readonly (readonly TableCell[])[],
  width: number,
  options: TableOptions,
): { readonly rows: readonly (readonly TableCell[])[]; readonly columns: readonly number[] } {
  if (width === Infinity) return { rows, columns: [] };
  const needs: number[] = [];
  for (const row of rows)
    row.forEach((cell, at) => {
      const own = displayWidth(cellText(cell));
      needs[at] = Math.max(needs[at] ?? 0, isUncuttable(at, options) ? own : Math.min(MIN_COLUMN_WIDTH, own));
    });
  const columns = new Set(
    [...needs.keys()].filter((at) => at === 0 || options.hasNameColumn === true || needs[at] !== 0),
  );
  const rightToLeft = [...needs.keys()].slice(1, -1).toReversed();
  for (const at of [...(options.dropOrder ?? []), ...rightToLeft]) {
    const needed = sumWidths([...columns].map((column) => needs[column] ?? 0)) - GAP;
    if (needed <= width) break;
    columns.delete(at);
  }
  if (columns.size === needs.length) return { rows, columns: [] };
  return { rows: rows.map((row) => row.filter((_, at) => columns.has(at))), columns: [...columns] };
}

/** Formats each row as its name with the last cell below it. */
function formatStacked(
  rows: readonly (readonly TableCell[])[],
  { width = Infinity, hasHeader = false, notes = [] }: TableOptions,
): readonly string[] {
  const indent = ' '.repeat(GAP);
  return rows.flatMap((row, index) => {
    if (hasHeader && index === 0) return [];
    const [name = '', lastCell = ''] = [row[0], row.length > 1 ? row.at(-1) : ''];
    const nameLine = paintText(name, cellText(name));
    const text = truncate(cellText(lastCell), width - GAP);
    const lines = text === '' ? [nameLine] : [nameLine, indent + paintText(lastCell, text)];
    return [...lines, ...formatNote(notes[index], width)];
  });
}

/** Returns the width of the widest cell of each column except the last. */
function measureColumns(rows: readonly (readonly TableCell[])[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, displayWidth(cellText(cell)));
    });
  }
  return widths;
}

/** Narrows the widest column by one, repeatedly, until all columns fit into the room or no column can be narrowed further. */
function shrinkColumns(
  natural: readonly number[],
  options: {
    readonly room: number;
    readonly minWidth: number;
    readonly isWhole: (index: number) => boolean;
  },
): readonly number[] {
  const widths = [...natural];
  for (let excess = sumWidths(widths) - options.room; excess > 0; excess--) {
    const cuttable = [...widths.keys()].filter((index) => !options.isWhole(index));
    const widest = cuttable.toSorted((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0];
    if (widest === undefined || (widths[widest] ?? 0) <= options.minWidth) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function padCell(cell: TableCell, width: number): string {
  const text = truncate(cellText(cell), width);
  return paintText(cell, text) + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

function paintText(cell: TableCell, text: string): string {
  return typeof cell === 'string' ? text : cell.paint(text);
}

function cellText(cell: TableCell): string {
  return typeof cell === 'string' ? cell : cell.text;
}
