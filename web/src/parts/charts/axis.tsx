import type { ComponentChildren } from 'preact';

interface AxisProps {
  readonly top: number;
  readonly format: (value: number) => string;
  /** Names of the first and the last place. */
  readonly from: string;
  readonly to: string;
  readonly children: ComponentChildren;
}

/** The lines behind a picture with what they stand for; texts are no part of the picture, so that it can be stretched. */
export function Axis({ top, format, from, to, children }: AxisProps) {
  return (
    <div class="axis">
      <div class="axis-values number" aria-hidden="true">
        {[top, top / 2, 0].map((value) => (
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
