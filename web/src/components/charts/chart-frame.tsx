import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { IconButton } from '../icon-button.tsx';

interface ChartFrameProps {
  readonly label: string;
  readonly legend?: ComponentChildren;
  readonly head: readonly string[];
  /** Returns the values of the chart as table rows; called only when the table is shown. */
  readonly rows: () => readonly (readonly string[])[];
  readonly children: ComponentChildren;
}

/** A chart with a button that shows the same values as a table, for exact numbers and for screen readers. */
export function ChartFrame({ label, legend, head, rows, children }: ChartFrameProps) {
  const [isTable, setTable] = useState(false);
  return (
    <figure class="chart">
      <figcaption>
        <span>{label}</span>
        {legend !== undefined && <span class="legend">{legend}</span>}
        <IconButton
          icon={isTable ? 'chart' : 'table'}
          label={isTable ? `${label} as a chart` : `${label} as a table`}
          onPress={() => setTable(!isTable)}
        />
      </figcaption>
      {isTable ? <ValueTable label={label} head={head} rows={rows()} /> : children}
    </figure>
  );
}

interface ValueTableProps {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

function ValueTable({ label, head, rows }: ValueTableProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable content must be reachable by keyboard
    <div class="numbers" tabIndex={0} role="region" aria-label={label}>
      <table class="plain-table">
        <thead>
          <tr>
            {head.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, rowIndex) => (
            <tr key={rowIndex}>
              {row.map((cell, index) => (
                <td key={index}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
