import { Axis } from './axis.tsx';
import { ChartFrame } from './chart-frame.tsx';
import { axisMaximum } from './chart-scale.ts';

interface Bar {
  readonly label: string;
  /** One value per part, from the bottom up. */
  readonly values: readonly number[];
}

interface BarChartProps {
  readonly label: string;
  /** The name and style of each part of a bar. */
  readonly parts: readonly { readonly name: string; readonly kind: 'accent' | 'soft' | 'bad' | 'plain' }[];
  readonly bars: readonly Bar[];
  readonly format: (value: number) => string;
}

/** The height of the chart, the distance between two bars and the width of a bar, in units of the SVG. */
const HEIGHT = 120;
const STEP = 10;
const BAR_WIDTH = 7;

/** A chart of stacked bars. */
export function BarChart({ label, parts, bars, format }: BarChartProps) {
  const totals = bars.map(({ values }) => values.reduce((sum, value) => sum + Math.max(0, value), 0));
  const maximum = axisMaximum([totals]);
  return (
    <ChartFrame
      label={label}
      legend={parts.map(({ name, kind }) => (
        <span key={name} class={`key ${kind}`}>
          <span class="swatch" aria-hidden="true" />
          {name}
        </span>
      ))}
      head={['', ...parts.map(({ name }) => name)]}
      rows={() => bars.map((bar) => [bar.label, ...bar.values.map(format)])}
    >
      <Axis maximum={maximum} format={format} labels={bars.map((bar) => bar.label)} isPerBar>
        <svg
          viewBox={`0 0 ${Math.max(1, bars.length) * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={label}
        >
          {bars.map((bar, index) => (
            <g key={index}>
              <title>{`${bar.label}: ${bar.values.map((value, part) => `${parts[part]?.name ?? ''} ${format(value)}`).join(', ')}`}</title>
              {stackValues(bar.values, maximum).map(({ y, height }, part) => (
                <rect
                  key={part}
                  class={`bar ${parts[part]?.kind ?? 'plain'}`}
                  x={index * STEP + (STEP - BAR_WIDTH) / 2}
                  y={y}
                  width={BAR_WIDTH}
                  height={height}
                />
              ))}
            </g>
          ))}
        </svg>
      </Axis>
    </ChartFrame>
  );
}

/** Returns the position and height of each part. SVG counts from the top, so the stack grows towards smaller y. */
function stackValues(values: readonly number[], maximum: number): { y: number; height: number }[] {
  let y = HEIGHT;
  return values.map((value) => {
    const height = (Math.max(0, value) / maximum) * HEIGHT;
    y -= height;
    return { y, height };
  });
}
