import { GatewayError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { Cancellation } from '../../core/lib/cancellation.ts';
import { RateQueue } from '../../core/lib/rate-queue.ts';
import type { Guard } from '../guard.ts';
import { GuardState, getOrCreateCounter } from '../guard-state.ts';

/** Maximum number of callers, and of upstreams, whose rate is tracked. The oldest is dropped, and starts again with a full bucket. */
const MAX_TRACKED = 10_000;
/** Maximum wait of a call in milliseconds. A retry of the client within this time would only add requests. */
const MAX_WAIT_MS = 2000;

interface RateLimit {
  /** Calls per minute; 0 means unlimited. */
  readonly rate: number;
  /** Maximum number of waiting calls. */
  readonly waiting: number;
}

interface RateLimitOptions {
  readonly ofCaller: RateLimit;
  readonly ofUpstream: (upstream: UpstreamName) => RateLimit | undefined;
  readonly now: () => number;
}

/**
 * Delays calls that exceed a rate by a little. Rejects those that exceed it by more, with the time after
 * which a retry can succeed.
 */
export function rateLimitGuard(
  { ofCaller, ofUpstream, now }: RateLimitOptions,
  { callerRates, upstreamRates }: Pick<GuardState, 'callerRates' | 'upstreamRates'> = new GuardState(),
): Guard {
  return async (call, next) => {
    const { upstream } = call.operation;
    const callerRate = trackedRate(callerRates, call.caller.id, ofCaller, now);
    const upstreamRate = trackedRate(upstreamRates, upstream, ofUpstream(upstream), now);
    const rates = [callerRate, upstreamRate].filter((rate) => rate !== undefined);
    const waitMs = Math.max(0, ...rates.map(({ bucket }) => bucket.peek()));
    if (waitMs > MAX_WAIT_MS || rates.some((rate) => waitMs > 0 && rate.isFull))
      throw rateLimitError(upstream, {
        retryAfterMs: waitMs,
        isUpstreamLimit: (upstreamRate?.bucket.peek() ?? 0) >= waitMs,
      });
    // Tokens are taken from all buckets or from none, so that a rejected call costs nothing.
    for (const { bucket } of rates) bucket.take();
    if (waitMs > 0) await waitForTurn(rates, waitMs, call.cancellation);
    return next(call);
  };
}

/** Waits for `waitMs`. If the call is cancelled during the wait, it rejects and returns the tokens to the buckets. */
async function waitForTurn(
  rates: readonly RateQueue[],
  waitMs: number,
  cancellation: Cancellation,
): Promise<void> {
  for (const rate of rates) rate.waiting++;
  try {
    await new Promise<void>((resolve, reject) => {
      const onCancel = (reason: Error): void => {
        clearTimeout(timer);
        for (const { bucket } of rates) bucket.giveBack();
        reject(reason);
      };
      const timer = setTimeout(() => {
        cancellation.offCancel(onCancel);
        resolve();
      }, waitMs);
      cancellation.onCancel(onCancel);
    });
  } finally {
    for (const rate of rates) rate.waiting--;
  }
}

function rateLimitError(
  upstream: UpstreamName,
  { retryAfterMs, isUpstreamLimit }: { readonly retryAfterMs: number; readonly isUpstreamLimit: boolean },
): GatewayError {
  const limited = isUpstreamLimit ? `Server "${upstream}" receives` : 'You make';
  const seconds = (retryAfterMs / 1000).toFixed(1);
  return new GatewayError(
    'RATE_LIMITED',
    `${limited} more calls per minute than the configuration allows (limits). Retry in ${seconds} s.`,
    { details: { upstream, retryAfterMs } },
  );
}

function trackedRate(
  rates: GuardState['callerRates'],
  key: string,
  limit: RateLimit | undefined,
  now: () => number,
): RateQueue | undefined {
  if (limit === undefined || limit.rate === 0) return undefined;
  const { rate: perMinute, waiting: maxWaiting } = limit;
  return getOrCreateCounter(rates, key, perMinute, maxWaiting, () => {
    if (rates.size >= MAX_TRACKED) rates.delete(rates.keys().next().value ?? '');
    return new RateQueue({ perMinute, maxWaiting, now });
  });
}
