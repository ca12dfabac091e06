import { Axis } from './axis.tsx';
import { ChartFrame } from './chart-frame.tsx';
import { topOf } from './scale.ts';

export interface Bar {
  readonly label: string;
  /** One per part, from the bottom up. */
  readonly values: readonly number[];
}

interface BarsProps {
  readonly label: string;
  /** What each part of a bar means, and how it looks. */
  readonly parts: readonly { readonly name: string; readonly kind: 'accent' | 'soft' | 'bad' | 'plain' }[];
  readonly bars: readonly Bar[];
  readonly format: (value: number) => string;
}

const HEIGHT = 120;
const STEP = 10;
const BAR = 7;

/** Bars of parts on each other, such as calls and errors per hour. */
export function Bars({ label, parts, bars, format }: BarsProps) {
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + Math.max(0, value), 0));
  const top = topOf([sums]);
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
      <Axis top={top} format={format} from={bars[0]?.label ?? ''} to={bars.at(-1)?.label ?? ''}>
        <svg
          viewBox={`0 0 ${Math.max(1, bars.length) * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={label}
        >
          {bars.map((bar, index) => (
            <g key={index}>
              <title>{`${bar.label}: ${bar.values.map((value, at) => `${parts[at]?.name ?? ''} ${format(value)}`).join(', ')}`}</title>
              {stacked(bar.values, top).map(({ y, height }, at) => (
                <rect
                  key={at}
                  class={`bar ${parts[at]?.kind ?? 'plain'}`}
                  x={index * STEP + (STEP - BAR) / 2}
                  y={y}
                  width={BAR}
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

function stacked(values: readonly number[], top: number): { y: number; height: number }[] {
  let y = HEIGHT;
  return values.map((value) => {
    const height = (Math.max(0, value) / top) * HEIGHT;
    y -= height;
    return { y, height };
  });
}
