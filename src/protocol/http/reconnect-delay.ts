import { backoff } from '../../core/lib/backoff.ts';

/** The minimum delay, for a server that ends every stream at once and asks for no delay. */
const MIN_DELAY_MS = 100;

/** Returns the delay before a stream is opened again: the one that the server asked for, else a full-jitter back-off. */
export function reconnectDelayMs(options: {
  readonly attempt: number;
  readonly retryMs: number | undefined;
  readonly random: () => number;
}): number {
  if (options.retryMs !== undefined) return Math.max(options.retryMs, MIN_DELAY_MS);
  return Math.max(
    backoff(options.attempt, { baseMs: 1000, maxMs: 30_000, random: options.random }),
    MIN_DELAY_MS,
  );
}
