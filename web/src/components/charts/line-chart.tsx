import { useState } from 'preact/hooks';

import { Axis } from './axis.tsx';
import { ChartFrame } from './chart-frame.tsx';
import { axisMaximum, isolatedValues, linePath, timeLabels, type Values } from './chart-scale.ts';

interface Line {
  readonly name: string;
  readonly values: Values;
}

interface LineChartProps {
  readonly label: string;
  /** The time of each value, in milliseconds since 1970. Every line has one value per time. */
  readonly at: readonly number[];
  /** Each of the first five lines has its own colour. All others share the sixth colour. */
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  readonly timeFormat: (at: number) => string;
  /** The format of the labels below the chart, which are short. */
  readonly axisFormat: (at: number) => string;
}

const WIDTH = 600;
const HEIGHT = 160;
const COLOURS = 6;

export function LineChart({ label, at, lines, format, timeFormat, axisFormat }: LineChartProps) {
  const [pointedIndex, setPointedIndex] = useState<number>();
  const maximum = axisMaximum(lines.map(({ values }) => values));
  const formatValue = (value: number | null | undefined): string =>
    value === null || value === undefined ? '–' : format(value);
  return (
    <ChartFrame
      label={label}
      legend={
        lines.length > 1 && lines.map(({ name }, index) => <LegendKey key={name} name={name} index={index} />)
      }
      head={['Time', ...lines.map(({ name }) => name)]}
      rows={() =>
        at.map((time, index) => [timeFormat(time), ...lines.map(({ values }) => formatValue(values[index]))])
      }
    >
      <Axis maximum={maximum} format={format} labels={timeLabels(at).map(axisFormat)}>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={label}
          onPointerMove={(event) => {
            const box = event.currentTarget.getBoundingClientRect();
            setPointedIndex(Math.round(((event.clientX - box.left) / box.width) * (at.length - 1)));
          }}
          onPointerLeave={() => setPointedIndex(undefined)}
        >
          {lines.map(({ name, values }, index) => (
            <LinePaths key={name} values={values} maximum={maximum} index={index} />
          ))}
          {pointedIndex !== undefined && (
            <path
              class="pointer"
              d={`M${(pointedIndex / Math.max(1, at.length - 1)) * WIDTH} 0V${HEIGHT}`}
              vector-effect="non-scaling-stroke"
            />
          )}
        </svg>
      </Axis>
      <p class="readout small number" aria-hidden="true">
        {pointedIndex !== undefined && (
          <>
            <span class="faint">{timeFormat(at[pointedIndex] ?? 0)}</span>
            {lines.map(({ name, values }, index) => (
              <span key={name}>
                <LegendKey name={name} index={index} /> {formatValue(values[pointedIndex])}
              </span>
            ))}
          </>
        )}
      </p>
    </ChartFrame>
  );
}

function LinePaths({ values, maximum, index }: { values: Values; maximum: number; index: number }) {
  const isolated = isolatedValues(values);
  return (
    <g class={colourClass(index)}>
      <path class="line" d={linePath(values, maximum, WIDTH, HEIGHT)} vector-effect="non-scaling-stroke" />
      <path
        class="chart-point"
        d={linePath(isolated, maximum, WIDTH, HEIGHT)}
        vector-effect="non-scaling-stroke"
      />
    </g>
  );
}

function LegendKey({ name, index }: { name: string; index: number }) {
  return (
    <span class={`key ${colourClass(index)}`}>
      <span class="swatch" aria-hidden="true" />
      {name}
    </span>
  );
}

function colourClass(index: number): string {
  return `series-${Math.min(index, COLOURS - 1) + 1}`;
}
