import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  /** The unique name of the column in its table. */
  readonly name: string;
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** The width as in `grid-template-columns`; the default is `1fr`. */
  readonly width?: string;
  readonly align?: 'left' | 'right';
  /** Whether the column is hidden on pages as narrow as a phone. */
  readonly isWideOnly?: boolean;
  /** Returns the sort key of a row. Without it, the table cannot be sorted by this column. */
  readonly sort?: (row: Row) => string | number;
}

export interface SortOrder {
  readonly column: string;
  readonly isDescending: boolean;
}

const collator = new Intl.Collator('en', { numeric: true });

export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: SortOrder | undefined,
): readonly Row[] {
  const sortKey = columns.find(({ name }) => name === order?.column)?.sort;
  if (order === undefined || sortKey === undefined) return rows;
  const sign = order.isDescending ? -1 : 1;
  return rows.toSorted((a, b) => sign * compareKeys(sortKey(a), sortKey(b)));
}

function compareKeys(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return collator.compare(String(a), String(b));
}
