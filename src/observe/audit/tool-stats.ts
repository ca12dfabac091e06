/** What became of the calls of one entry, since the first record. */
export interface ToolStats {
  readonly server: string;
  readonly entry: string;
  readonly kind: string;
  readonly calls: number;
  /** What the server, or the way to it, got wrong. */
  readonly errors: number;
  /** What was not let through, and says nothing about how the server fares. */
  readonly refused: number;
  readonly lastAt: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** Milliseconds that half, 95 of 100 and 99 of 100 calls took at most; of calls that reached the server. Estimated from buckets: up to a tenth off. */
  readonly p50?: number;
  readonly p95?: number;
  readonly p99?: number;
}

/** Buckets grow by a fifth each, so that a quantile is at most a tenth away from the truth. */
export const GROWTH = 1.2;
const LOG_GROWTH = Math.log(GROWTH);
export const LEAST_MS = 0.01;
const LAST = 140;

export function bucketOf(ms: number): number {
  if (!(ms > LEAST_MS)) return 0;
  return Math.min(LAST, Math.ceil(Math.log(ms / LEAST_MS) / LOG_GROWTH));
}

/** The quantile of a histogram; undefined where it is empty. */
export function quantile(counts: ReadonlyMap<number, number>, part: number): number | undefined {
  const buckets = [...counts].toSorted(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return undefined;
  let left = part * total;
  for (const [bucket, count] of buckets) {
    left -= count;
    if (left <= 1e-9) return rounded(middleOf(bucket));
  }
  return rounded(middleOf(buckets.at(-1)?.[0] ?? 0));
}

function middleOf(bucket: number): number {
  return bucket === 0 ? LEAST_MS : LEAST_MS * GROWTH ** (bucket - 0.5);
}

/** Three digits are more than a histogram knows. */
function rounded(ms: number): number {
  return Number(ms.toPrecision(3));
}
