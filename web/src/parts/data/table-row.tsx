import type { Column } from './column.ts';

interface TableRowProps<Row> {
  readonly id: string;
  readonly row: Row;
  readonly index: number;
  readonly columns: readonly Column<Row>[];
  readonly height: number;
  readonly isActive: boolean;
  readonly isChosen: boolean;
  readonly onOpen: (index: number) => void;
}

export function TableRow<Row>(props: TableRowProps<Row>) {
  const { id, row, index, columns, height, isActive, isChosen, onOpen } = props;
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the grid has the focus and the keys
    <div
      role="row"
      id={id}
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      class={`table-row ${isActive ? 'is-active' : ''}`}
      style={{ height: `${height}px` }}
      onClick={(event) => {
        // A button or a link inside of the row does its own work.
        const inner = event.target instanceof Element ? event.target.closest('button, a') : null;
        if (inner === null) onOpen(index);
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
