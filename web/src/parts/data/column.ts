import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  /** Unique in the table; the name by which it is sorted. */
  readonly name: string;
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** As in `grid-template-columns`; `1fr` unless told. */
  readonly width?: string;
  readonly align?: 'left' | 'right';
  /** Left out where the page is as narrow as a phone. */
  readonly isWideOnly?: boolean;
  /** What it is sorted by; without it, it cannot be. */
  readonly sort?: (row: Row) => string | number;
}

export interface Order {
  readonly column: string;
  readonly isDown: boolean;
}

const collator = new Intl.Collator('en', { numeric: true });

export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: Order | undefined,
): readonly Row[] {
  const by = columns.find(({ name }) => name === order?.column)?.sort;
  if (order === undefined || by === undefined) return rows;
  const sign = order.isDown ? -1 : 1;
  return rows.toSorted((a, b) => sign * compare(by(a), by(b)));
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return collator.compare(String(a), String(b));
}
