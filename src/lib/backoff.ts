/** Full jitter: anything between nothing and the exponential bound. */
export function backoff(
  attempt: number,
  options: { readonly baseMs: number; readonly maxMs: number; readonly random?: (() => number) | undefined },
): number {
  const bound = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round((options.random ?? Math.random)() * bound);
}
