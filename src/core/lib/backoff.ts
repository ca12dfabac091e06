/**
 * Returns a random delay in milliseconds (exponential backoff with full jitter). It lies between 0 and an upper bound, which is `baseMs` for
 * attempt 1, doubles with each further attempt and is at most `maxMs`.
 */
export function backoff(
  attempt: number,
  options: { readonly baseMs: number; readonly maxMs: number; readonly random?: (() => number) | undefined },
): number {
  const upperBoundMs = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round((options.random ?? Math.random)() * upperBoundMs);
}
