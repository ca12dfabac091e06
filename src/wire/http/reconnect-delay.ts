import { backoff } from '../../lib/backoff.ts';

/** A server that asks for no pause at all and ends every stream at once would keep us busy. */
const SHORTEST_MS = 100;

/** How long to wait before a stream is opened again: what the server asked for, else a full-jitter back-off. */
export function reconnectDelayMs(options: {
  readonly attempt: number;
  readonly retryMs: number | undefined;
  readonly random: () => number;
}): number {
  if (options.retryMs !== undefined) return Math.max(options.retryMs, SHORTEST_MS);
  return Math.max(
    backoff(options.attempt, { baseMs: 1000, maxMs: 30_000, random: options.random }),
    SHORTEST_MS,
  );
}
