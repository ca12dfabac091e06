import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { computeRowWindow, type RowWindow } from '../../lib/row-window.ts';
import { useNarrow } from '../../lib/use-narrow.ts';
import { Icon } from '../icon.tsx';
import { sortRows, type Column, type SortOrder } from './column.ts';

interface TableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  /** Must be the same array as long as the columns are the same, because a new array causes the rows to be sorted again. */
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Called when the user presses Enter or clicks on a row. Without it, rows cannot be opened. */
  readonly onOpen?: (row: Row) => void;
  /** Identifies the query behind the rows. When it changes, the table scrolls to the top. */
  readonly scope?: string;
  /** Shown instead of an empty table. */
  readonly empty: ComponentChildren;
  readonly initialOrder?: SortOrder;
  /** The height of every row in pixels. Equal heights let the table compute the visible rows without measuring, even for 100,000 rows. */
  readonly rowHeight?: number;
  /** The maximum height of the table as in CSS. */
  readonly maxHeight?: string | undefined;
}

/**
 * A table for any number of rows, of which only those near the visible part are rendered. Arrow keys, Page Up, Page Down, Home
 * and End select a row, and Enter opens it.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { label, keyOf, onOpen, rowHeight = 36 } = props;
  const id = useId();
  const isNarrow = useNarrow();
  const [order, setOrder] = useState(props.initialOrder);
  const columns = props.columns.filter(({ isWideOnly = false }) => !(isWideOnly && isNarrow));
  const rows = useMemo(() => sortRows(props.rows, props.columns, order), [props.rows, props.columns, order]);
  const { box, viewport, readViewport, selected, setSelected } = useScrolling(props.scope, rows.length);
  if (rows.length === 0) return <>{props.empty}</>;

  const selectedIndex = Math.min(selected, rows.length - 1);
  const rowWindow = computeRowWindow(rows.length, rowHeight, viewport.top, viewport.height);
  const open = (index: number): void => {
    setSelected(index);
    const row = rows[index];
    if (row !== undefined) onOpen?.(row);
  };
  const handleKey = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    if (event.key === 'Enter') return open(selectedIndex);
    // A page leaves out the head and keeps one row of the previous page visible.
    const pageRows = Math.floor(viewport.height / rowHeight) - 2;
    const next = nextRow(event.key, selectedIndex, rows.length, pageRows);
    if (next === undefined) return;
    event.preventDefault();
    setSelected(next);
    scrollToRow(box.current, next * rowHeight, rowHeight);
  };
  return (
    <div
      class={`table ${onOpen === undefined ? '' : 'is-clickable'}`}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={`${id}-${selectedIndex}`}
      tabIndex={0}
      ref={box}
      style={{
        maxHeight: props.maxHeight ?? 'min(70dvh, 720px)',
        '--columns': columns.map(({ width = '1fr' }) => width).join(' '),
      }}
      onScroll={readViewport}
      onKeyDown={handleKey}
    >
      <TableHead columns={columns} order={order} onOrder={setOrder} />
      <TableBody
        id={id}
        rows={rows}
        rowWindow={rowWindow}
        columns={columns}
        rowHeight={rowHeight}
        keyOf={keyOf}
        selectedIndex={selectedIndex}
        onOpen={open}
      />
    </div>
  );
}

/** Tracks the visible part of the table and the selected row. Both return to the top when the scope changes. */
function useScrolling(scope: string | undefined, rowCount: number) {
  const box = useRef<HTMLDivElement>(null);
  const [viewport, setViewport] = useState({ top: 0, height: 720 });
  const [selected, setSelected] = useState(0);
  const readViewport = (): void => {
    if (box.current === null) return;
    const { scrollTop: top, clientHeight: height } = box.current;
    setViewport((old) => (old.top === top && old.height === height ? old : { top, height }));
  };
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = 0;
    setSelected(0);
  }, [scope]);
  useLayoutEffect(readViewport, [rowCount]);
  return { box, viewport, readViewport, selected, setSelected };
}

/** Returns the index of the row that a key selects, or undefined for other keys. */
function nextRow(key: string, current: number, rowCount: number, pageRows: number): number | undefined {
  const last = rowCount - 1;
  const page = Math.max(1, pageRows);
  switch (key) {
    case 'ArrowDown':
      return Math.min(last, current + 1);
    case 'ArrowUp':
      return Math.max(0, current - 1);
    case 'PageDown':
      return Math.min(last, current + page);
    case 'PageUp':
      return Math.max(0, current - page);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}

/** Scrolls until a row is visible below the head, which stays at the top and is as high as a row. */
function scrollToRow(box: HTMLElement | null, top: number, height: number): void {
  if (box === null) return;
  const headHeight = height;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + height + headHeight > box.scrollTop + box.clientHeight)
    box.scrollTop = top + height + headHeight - box.clientHeight;
}

interface TableHeadProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly order: SortOrder | undefined;
  readonly onOrder: (order: SortOrder) => void;
}

function TableHead<Row>({ columns, order, onOrder }: TableHeadProps<Row>) {
  return (
    <div role="rowgroup" class="table-head">
      <div role="row" aria-rowindex={1} class="table-row">
        {columns.map(({ name, title, align = 'left', sort }) => {
          const current = order?.column === name ? order : undefined;
          // The first click sorts numbers, which are aligned right, in descending order. Further clicks reverse the order.
          const isDescending = current === undefined ? align === 'right' : !current.isDescending;
          const direction = current && (current.isDescending ? 'descending' : 'ascending');
          return (
            <div key={name} role="columnheader" class={align} aria-sort={direction}>
              {sort === undefined ? (
                title
              ) : (
                <button
                  type="button"
                  class={`sort ${direction ?? ''}`}
                  onClick={() => onOrder({ column: name, isDescending })}
                >
                  {title}
                  <Icon name="down" />
                </button>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface TableBodyProps<Row> {
  readonly id: string;
  readonly rows: readonly Row[];
  readonly rowWindow: RowWindow;
  readonly columns: readonly Column<Row>[];
  readonly rowHeight: number;
  readonly keyOf: (row: Row) => string;
  readonly selectedIndex: number;
  readonly onOpen: (index: number) => void;
}

function TableBody<Row>(props: TableBodyProps<Row>) {
  const { id, rows, rowWindow, columns, rowHeight, keyOf, selectedIndex, onOpen } = props;
  return (
    <div
      role="rowgroup"
      style={{ paddingTop: `${rowWindow.before}px`, paddingBottom: `${rowWindow.after}px` }}
    >
      {rows.slice(rowWindow.first, rowWindow.end).map((row, offset) => {
        const index = rowWindow.first + offset;
        return (
          <TableRow
            key={keyOf(row)}
            id={`${id}-${index}`}
            row={row}
            index={index}
            columns={columns}
            height={rowHeight}
            isSelected={index === selectedIndex}
            onOpen={onOpen}
          />
        );
      })}
    </div>
  );
}

interface TableRowProps<Row> {
  readonly id: string;
  readonly row: Row;
  readonly index: number;
  readonly columns: readonly Column<Row>[];
  readonly height: number;
  readonly isSelected: boolean;
  readonly onOpen: (index: number) => void;
}

function TableRow<Row>({ id, row, index, columns, height, isSelected, onOpen }: TableRowProps<Row>) {
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the grid has the focus and handles keys
    <div
      role="row"
      id={id}
      aria-rowindex={index + 2}
      class={`table-row ${isSelected ? 'is-selected' : ''}`}
      style={{ height: `${height}px` }}
      onClick={(event) => {
        // A button or link in the row handles its own clicks.
        const control = event.target instanceof Element ? event.target.closest('button, a') : null;
        if (control === null) onOpen(index);
      }}
    >
      {columns.map(({ name, cell, align = 'left' }) => (
        <div key={name} role="gridcell" class={align}>
          {cell(row)}
        </div>
      ))}
    </div>
  );
}
