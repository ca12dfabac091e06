import type { ComponentChildren } from 'preact';

interface AxisProps {
  readonly maximum: number;
  readonly format: (value: number) => string;
  /** The labels of the first and the last value. */
  readonly from: string;
  readonly to: string;
  readonly children: ComponentChildren;
}

/** The labels of a chart. They are outside the SVG, so that it can be stretched without distorting the text. */
export function Axis({ maximum, format, from, to, children }: AxisProps) {
  return (
    <div class="axis">
      <div class="axis-values number" aria-hidden="true">
        {[maximum, maximum / 2, 0].map((value) => (
          <span key={value}>{format(value)}</span>
        ))}
      </div>
      <div class="axis-box">{children}</div>
      <div class="axis-times number" aria-hidden="true">
        <span>{from}</span>
        <span>{to}</span>
      </div>
    </div>
  );
}
