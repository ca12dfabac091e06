/** The values of a line, the oldest first. A missing value is null. */
export type Values = readonly (number | null)[];

/** Returns a round number that is at least as large as every value, so that the labels of the axis are short. */
export function axisMaximum(lines: readonly Values[]): number {
  const largest = Math.max(0, ...lines.map((values) => Math.max(0, ...values.map((value) => value ?? 0))));
  // The axis also has a label at half of the maximum, which must be a whole number of calls.
  if (largest === 0 || largest === 1) return 2;
  const unit = 10 ** Math.floor(Math.log10(largest));
  const factor = [1, 2, 4, 5, 8, 10].find((candidate) => candidate * unit >= largest) ?? 10;
  return factor * unit;
}

/** Returns up to five times in equal distances, from the first to the last, for the labels of an axis. */
export function timeLabels(at: readonly number[]): readonly number[] {
  const steps = Math.min(4, at.length - 1);
  const indexes = Array.from({ length: steps + 1 }, (_, step) =>
    Math.round((step / Math.max(1, steps)) * (at.length - 1)),
  );
  return indexes.flatMap((index) => at[index] ?? []);
}

/** Returns an SVG path through the values, with gaps for missing values and dots for isolated ones. */
export function linePath(values: Values, maximum: number, width: number, height: number): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  let path = '';
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    const point = `${round(index * step)} ${round(height - (Math.min(value, maximum) / maximum) * height)}`;
    path += isPresent(values[index - 1]) ? `L${point}` : `M${point}`;
    // A very short line with round ends looks like a dot.
    if (isIsolated(values, index)) path += 'h0.01';
  }
  return path;
}

/** Replaces all values that have a neighbour by null. The remaining values are drawn as dots, with a thicker stroke than a line. */
export function isolatedValues(values: Values): Values {
  return values.map((value, index) => (isIsolated(values, index) ? value : null));
}

/** Replaces missing values by the previous value, for small charts of sparse data. */
export function fillGaps(values: Values): Values {
  let previous: number | null = null;
  return values.map((value) => (previous = value ?? previous));
}

function isIsolated(values: Values, index: number): boolean {
  return isPresent(values[index]) && !isPresent(values[index - 1]) && !isPresent(values[index + 1]);
}

function isPresent(value: number | null | undefined): value is number {
  return value !== null && value !== undefined;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
