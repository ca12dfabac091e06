import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { IconButton } from '../icon-button.tsx';

interface ChartFrameProps {
  readonly label: string;
  /** What the colours mean. */
  readonly legend?: ComponentChildren;
  readonly head: readonly string[];
  /** The same as the picture, in words; only made when it is looked at. */
  readonly rows: () => readonly (readonly string[])[];
  readonly children: ComponentChildren;
}

/** A picture of numbers, and the same numbers as a table for whoever wants them exact or does not see it. */
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
      {isTable ? <Numbers label={label} head={head} rows={rows()} /> : children}
    </figure>
  );
}

function Numbers({
  label,
  head,
  rows,
}: {
  label: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
}) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what can be scrolled must be reachable by keyboard
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
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
