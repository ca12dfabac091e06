/** Returns the indices of the highest positive values, the highest first; equal values keep their order. */
export function indicesOfHighest(values: Float64Array, count: number): readonly number[] {
  const indices: number[] = [];
  const floor = lowestOfHighest(values, count);
  for (let at = 0; at < values.length; at += 1) if ((values[at] ?? 0) >= floor) indices.push(at);
  indices.sort((one, other) => (values[other] ?? 0) - (values[one] ?? 0) || one - other);
  return indices.slice(0, count);
}

/** Returns the lowest of the `count` highest values: the top of a min-heap of them. Values that are not positive are ignored. */
function lowestOfHighest(values: Float64Array, count: number): number {
  const minimum = Number.MIN_VALUE;
  if (count >= values.length) return minimum;
  const heap = new Float64Array(count);
  for (const value of values) {
    if (value > (heap[0] ?? Infinity)) replaceSmallest(heap, value);
  }
  return Math.max(minimum, heap[0] ?? Infinity);
}

/** Replaces the top of a min-heap, its smallest value, with a larger value and restores the order of the heap. */
function replaceSmallest(heap: Float64Array, value: number): void {
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
