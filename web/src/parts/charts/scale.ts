export type Values = readonly (number | null)[];

/** A round number that is not below any of these, so that lines at its quarters have short names. */
export function topOf(all: readonly Values[]): number {
  const most = Math.max(0, ...all.map((values) => Math.max(0, ...values.map((value) => value ?? 0))));
  // Half of one is no number of calls.
  if (most === 0 || most === 1) return 2;
  const unit = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 4, 5, 8, 10].find((each) => each * unit >= most) ?? 10;
  return step * unit;
}

/** Lines through the values in a box; a gap where there is none, a dot where one stands alone. */
export function pathOf(values: Values, top: number, width: number, height: number): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  let path = '';
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    const point = `${round(index * step)} ${round(height - (Math.min(value, top) / top) * height)}`;
    path += isThere(values[index - 1]) ? `L${point}` : `M${point}`;
    if (isAlone(values, index)) path += 'h0.01';
  }
  return path;
}

/** Only those with nothing on either side, which a line is too thin for. */
export function loneOf(values: Values): Values {
  return values.map((value, index) => (isAlone(values, index) ? value : null));
}

function isAlone(values: Values, index: number): boolean {
  return isThere(values[index]) && !isThere(values[index - 1]) && !isThere(values[index + 1]);
}

function isThere(value: number | null | undefined): value is number {
  return value !== null && value !== undefined;
}

/** Values that are there are joined over those that are not; for small pictures of sparse data. */
export function joined(values: Values): Values {
  const first = values.findIndex((value) => value !== null);
  let last: number | null = null;
  return first === -1 ? values : values.map((value) => (last = value ?? last));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
