/** Returns a delay in milliseconds with full jitter: between 0 and a bound that doubles with each attempt, counted from 1. */
export function backoff(
  attempt: number,
  options: { readonly baseMs: number; readonly maxMs: number; readonly random?: (() => number) | undefined },
): number {
  const bound = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round((options.random ?? Math.random)() * bound);
}
