/** The places of the highest positive values, the highest first; of equal ones the first. */
export function highest(values: Float64Array, count: number): readonly number[] {
  const places: number[] = [];
  const floor = floorOf(values, count);
  for (let at = 0; at < values.length; at += 1) if ((values[at] ?? 0) >= floor) places.push(at);
  places.sort((one, other) => (values[other] ?? 0) - (values[one] ?? 0) || one - other);
  return places.slice(0, count);
}

/** The value that a place must reach to be among the highest: the top of a heap of the `count` highest so far. */
function floorOf(values: Float64Array, count: number): number {
  const least = Number.MIN_VALUE;
  if (count >= values.length) return least;
  const heap = new Float64Array(count);
  for (const value of values) {
    if (value > (heap[0] ?? Infinity)) sink(heap, value);
  }
  return Math.max(least, heap[0] ?? Infinity);
}

/** Replaces the smallest, which is at the top. */
function sink(heap: Float64Array, value: number): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child += 1;
    if ((heap[child] ?? 0) >= value) break;
    heap[at] = heap[child] ?? 0;
    at = child;
  }
  heap[at] = value;
}
