import { Icon } from '../icon.tsx';
import type { Column, Order } from './column.ts';

interface TableHeadProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly order: Order | undefined;
  readonly onOrder: (order: Order) => void;
}

export function TableHead<Row>({ columns, order, onOrder }: TableHeadProps<Row>) {
  return (
    <div role="rowgroup" class="table-head">
      <div role="row" aria-rowindex={1} class="table-row">
        {columns.map(({ name, title, align = 'left', sort }) => {
          const isBy = order?.column === name;
          return (
            <div
              key={name}
              role="columnheader"
              class={align}
              aria-sort={isBy ? (order.isDown ? 'descending' : 'ascending') : undefined}
            >
              {sort === undefined ? (
                title
              ) : (
                <button
                  type="button"
                  class={`sort ${isBy ? (order.isDown ? 'down' : 'up') : ''}`}
                  onClick={() => onOrder({ column: name, isDown: isBy ? !order.isDown : align === 'right' })}
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
