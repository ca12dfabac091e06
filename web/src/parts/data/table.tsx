import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { useNarrow } from '../../lib/use-narrow.ts';
import { windowOf } from '../../lib/window-of.ts';
import { sorted, type Column, type Order } from './column.ts';
import { moveTo } from './move-to.ts';
import { TableHead } from './table-head.tsx';
import { TableRow } from './table-row.tsx';

interface TableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  /** The same array as long as they are the same, or rows are sorted anew each time. */
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Enter or a press; without it rows are only looked at. */
  readonly onOpen?: (row: Row) => void;
  /** The key of the row that is open beside the table. */
  readonly chosen?: string | undefined;
  /** The question that the rows answer: with another one, the table begins at its top. */
  readonly scope?: string;
  /** Shown when there is no row. */
  readonly empty: ComponentChildren;
  readonly firstOrder?: Order;
  /** Of a row, in pixels; all have the same, which is what makes 100,000 of them cheap. */
  readonly rowHeight?: number;
  /** Of the whole, as in CSS; grows with its rows up to it. */
  readonly maxHeight?: string;
}

/** Any number of rows; only those near the visible ones exist. Arrows, Page, Home and End move, Enter opens. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, keyOf, onOpen, chosen, scope, empty, rowHeight = 36 } = props;
  const id = useId();
  const isNarrow = useNarrow();
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, height: 720 });
  const [order, setOrder] = useState(props.firstOrder);
  const [active, setActive] = useState(0);
  const columns = props.columns.filter(({ isWideOnly = false }) => !(isWideOnly && isNarrow));
  const rows = useMemo(() => sorted(props.rows, props.columns, order), [props.rows, props.columns, order]);
  const read = (): void => {
    const shown = box.current;
    if (shown === null) return;
    const { scrollTop: top, clientHeight: height } = shown;
    setPlace((old) => (old.top === top && old.height === height ? old : { top, height }));
  };
  const isEmpty = rows.length === 0;
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = 0;
    setActive(0);
  }, [scope]);
  useLayoutEffect(read, [rows.length]);
  if (isEmpty) return <>{empty}</>;

  const at = Math.min(active, rows.length - 1);
  const slice = windowOf(rows.length, rowHeight, place.top, place.height);
  const open = (index: number): void => {
    setActive(index);
    const row = rows[index];
    if (row !== undefined) onOpen?.(row);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    if (event.key === 'Enter') return open(at);
    const next = moveTo(event.key, at, rows.length, Math.floor(place.height / rowHeight) - 2);
    if (next === undefined) return;
    event.preventDefault();
    setActive(next);
    showRow(box.current, next * rowHeight, rowHeight);
  };
  return (
    <div
      class={`table ${onOpen === undefined ? '' : 'opens'}`}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={`${id}-${at}`}
      tabIndex={0}
      ref={box}
      style={{
        maxHeight: props.maxHeight ?? 'min(70dvh, 720px)',
        '--columns': columns.map(({ width = '1fr' }) => width).join(' '),
      }}
      onScroll={read}
      onKeyDown={press}
    >
      <TableHead columns={columns} order={order} onOrder={setOrder} />
      <div role="rowgroup" style={{ paddingTop: `${slice.before}px`, paddingBottom: `${slice.after}px` }}>
        {rows.slice(slice.first, slice.end).map((row, offset) => {
          const index = slice.first + offset;
          return (
            <TableRow
              key={keyOf(row)}
              id={`${id}-${index}`}
              row={row}
              index={index}
              columns={columns}
              height={rowHeight}
              isActive={index === at}
              isChosen={chosen !== undefined && chosen === keyOf(row)}
              onOpen={open}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Below the head, which stays where it is. */
function showRow(box: HTMLElement | null, top: number, height: number): void {
  if (box === null) return;
  const head = height;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + height + head > box.scrollTop + box.clientHeight)
    box.scrollTop = top + height + head - box.clientHeight;
}
