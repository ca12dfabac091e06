import { joined, loneOf, pathOf, topOf, type Values } from './scale.ts';

interface SparklineProps {
  /** The oldest first; null where there is nothing. */
  readonly values: Values;
  /** In words, for who does not see it. */
  readonly label: string;
}

const WIDTH = 96;
const HEIGHT = 20;

/** How something went lately, in the height of a line of text. */
export function Sparkline({ values, label }: SparklineProps) {
  const shown = joined(values);
  const isEmpty = values.every((value) => value === null);
  const path = isEmpty ? '' : pathOf(shown, topOf([shown]), WIDTH, HEIGHT);
  return (
    <svg class="sparkline" viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`} role="img" aria-label={label}>
      {isEmpty ? (
        <path class="nothing" d={`M0 ${HEIGHT}H${WIDTH}`} />
      ) : (
        <>
          <path d={path} vector-effect="non-scaling-stroke" />
          <path
            class="lone"
            d={pathOf(loneOf(shown), topOf([shown]), WIDTH, HEIGHT)}
            vector-effect="non-scaling-stroke"
          />
        </>
      )}
    </svg>
  );
}
