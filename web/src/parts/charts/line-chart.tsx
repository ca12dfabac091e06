import { useState } from 'preact/hooks';

import { Axis } from './axis.tsx';
import { ChartFrame } from './chart-frame.tsx';
import { loneOf, pathOf, topOf, type Values } from './scale.ts';

export interface Line {
  readonly name: string;
  readonly values: Values;
}

interface LineChartProps {
  readonly label: string;
  /** Where each value stands in time; every line has as many. */
  readonly at: readonly number[];
  /** Six at most have a colour of their own; the last colour is for all others. */
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  readonly timeFormat: (at: number) => string;
}

const WIDTH = 600;
const HEIGHT = 160;
const COLOURS = 6;

export function LineChart({ label, at, lines, format, timeFormat }: LineChartProps) {
  const [pointed, setPointed] = useState<number>();
  const top = topOf(lines.map(({ values }) => values));
  const said = (value: number | null | undefined): string =>
    value === null || value === undefined ? '–' : format(value);
  return (
    <ChartFrame
      label={label}
      legend={
        lines.length > 1 && lines.map(({ name }, index) => <Key key={name} name={name} index={index} />)
      }
      head={['Time', ...lines.map(({ name }) => name)]}
      rows={() =>
        at.map((each, index) => [timeFormat(each), ...lines.map(({ values }) => said(values[index]))])
      }
    >
      <Axis top={top} format={format} from={timeFormat(at[0] ?? 0)} to={timeFormat(at.at(-1) ?? 0)}>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={label}
          onPointerMove={(event) => {
            const box = event.currentTarget.getBoundingClientRect();
            setPointed(Math.round(((event.clientX - box.left) / box.width) * (at.length - 1)));
          }}
          onPointerLeave={() => setPointed(undefined)}
        >
          {lines.map(({ name, values }, index) => (
            <g key={name} class={colour(index)}>
              <path class="line" d={pathOf(values, top, WIDTH, HEIGHT)} vector-effect="non-scaling-stroke" />
              <path
                class="lone"
                d={pathOf(loneOf(values), top, WIDTH, HEIGHT)}
                vector-effect="non-scaling-stroke"
              />
            </g>
          ))}
          {pointed !== undefined && (
            <path
              class="pointer"
              d={`M${(pointed / Math.max(1, at.length - 1)) * WIDTH} 0V${HEIGHT}`}
              vector-effect="non-scaling-stroke"
            />
          )}
        </svg>
      </Axis>
      <p class="readout small number" aria-hidden="true">
        {pointed !== undefined && (
          <>
            <span class="faint">{timeFormat(at[pointed] ?? 0)}</span>
            {lines.map(({ name, values }, index) => (
              <span key={name}>
                <Key name={name} index={index} /> {said(values[pointed])}
              </span>
            ))}
          </>
        )}
      </p>
    </ChartFrame>
  );
}

function Key({ name, index }: { name: string; index: number }) {
  return (
    <span class={`key ${colour(index)}`}>
      <span class="swatch" aria-hidden="true" />
      {name}
    </span>
  );
}

function colour(index: number): string {
  return `series-${Math.min(index, COLOURS - 1) + 1}`;
}
