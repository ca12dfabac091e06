import type { ComponentChildren } from 'preact';

interface AxisProps {
  readonly maximum: number;
  readonly format: (value: number) => string;
  /** The labels below the chart, in equal distances from the first value to the last. */
  readonly labels: readonly string[];
  /** Whether each label belongs to a bar of its own, and not to a point of a line. */
  readonly isPerBar?: boolean;
  readonly children: ComponentChildren;
}

/** The labels of a chart. They are outside the SVG, so that it can be stretched without distorting the text. */
export function Axis({ maximum, format, labels, isPerBar = false, children }: AxisProps) {
  return (
    <div class="axis">
      <div class="axis-values number" aria-hidden="true">
        {[maximum, maximum / 2, 0].map((value) => (
          <span key={value}>{format(value)}</span>
        ))}
      </div>
      <div class="axis-box">{children}</div>
      <div class={`axis-times number ${isPerBar ? 'is-per-bar' : ''}`} aria-hidden="true">
        {labels.map((label, index) => (
          <span key={index}>{label}</span>
        ))}
      </div>
    </div>
  );
}
