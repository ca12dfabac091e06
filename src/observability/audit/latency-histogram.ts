/** The upper bound of each bucket is 1.2 times that of the bucket before it, so a quantile is at most about 10 % off. */
export const BUCKET_GROWTH = 1.2;
/** The upper bound of bucket 0. */
export const MIN_BUCKET_MS = 0.01;
const LOG_GROWTH = Math.log(BUCKET_GROWTH);
/** All longer durations are in this bucket, which begins after about 12 days. */
const LAST_BUCKET = 140;

/** Returns the histogram bucket of a duration. */
export function latencyBucket(ms: number): number {
  if (!(ms > MIN_BUCKET_MS)) return 0;
  return Math.min(LAST_BUCKET, Math.ceil(Math.log(ms / MIN_BUCKET_MS) / LOG_GROWTH));
}

/** Returns a quantile of a histogram in milliseconds; undefined if the histogram is empty. */
export function latencyQuantile(counts: ReadonlyMap<number, number>, fraction: number): number | undefined {
  const buckets = [...counts].toSorted(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return undefined;
  let remaining = fraction * total;
  for (const [bucket, count] of buckets) {
    remaining -= count;
    // The tolerance absorbs rounding errors of `fraction * total`.
    if (remaining <= 1e-9) return bucketMiddleMs(bucket);
  }
  return bucketMiddleMs(buckets.at(-1)?.[0] ?? 0);
}

/** Returns the geometric middle of a bucket, with three digits, which is more than the precision of the histogram. */
function bucketMiddleMs(bucket: number): number {
  const ms = bucket === 0 ? MIN_BUCKET_MS : MIN_BUCKET_MS * BUCKET_GROWTH ** (bucket - 0.5);
  return Number(ms.toPrecision(3));
}
