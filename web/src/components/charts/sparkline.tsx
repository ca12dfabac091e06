import { axisMaximum, fillGaps, isolatedValues, linePath, type Values } from './chart-scale.ts';

interface SparklineProps {
  readonly values: Values;
  /** Describes the chart for screen readers. */
  readonly label: string;
}

const WIDTH = 96;
const HEIGHT = 20;

/** A line chart in the height of a line of text. */
export function Sparkline({ values, label }: SparklineProps) {
  const filled = fillGaps(values);
  const maximum = axisMaximum([filled]);
  const isEmpty = values.every((value) => value === null);
  return (
    <svg class="sparkline" viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`} role="img" aria-label={label}>
      {isEmpty ? (
        <path class="baseline" d={`M0 ${HEIGHT}H${WIDTH}`} />
      ) : (
        <>
          <path d={linePath(filled, maximum, WIDTH, HEIGHT)} vector-effect="non-scaling-stroke" />
          <path
            class="chart-point"
            d={linePath(isolatedValues(filled), maximum, WIDTH, HEIGHT)}
            vector-effect="non-scaling-stroke"
          />
        </>
      )}
    </svg>
  );
}
