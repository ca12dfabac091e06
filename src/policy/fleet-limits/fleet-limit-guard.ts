import { setTimeout as delay } from 'node:timers/promises';

import { GatewayError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { Payload } from '../../core/lib/payload.ts';
import { settleThen } from '../../core/lib/settle-then.ts';
import type { Call, Guard, Next } from '../guard.ts';
import type { FleetShares, SharedConcurrency, SharedRate } from './fleet-shares.ts';

interface FleetLimits {
  readonly rate: number;
  readonly concurrency: number;
  readonly waiting: number;
}

interface FleetLimitOptions {
  readonly shares: FleetShares;
  /** The limits per caller; undefined if each gateway counts only its own calls of a caller. */
  readonly ofCaller: FleetLimits | undefined;
  readonly ofUpstream: (upstream: UpstreamName) => FleetLimits | undefined;
  readonly now: () => number;
}

/** Maximum time that a call waits for a rate, in milliseconds. The rate limit of a single gateway uses the same value. */
const MAX_WAIT_MS = 2000;
/** Maximum interval between two checks of a waiting call, because the share of this gateway may grow at any time. */
const POLL_MS = 20;
/** Retry time in milliseconds for a refused call if no call has ended yet and there is no average duration. */
const DEFAULT_RETRY_MS = 1000;

/** Applies `limits` with `scope: "fleet"`: limits per server and per caller that all gateways of a database share. */
export function fleetLimitGuard({ shares, ofCaller, ofUpstream, now }: FleetLimitOptions): Guard {
  return async (call, next) => {
    const { upstream } = call.operation;
    const limitsByName: readonly (readonly [string, FleetLimits | undefined])[] = [
      [`caller ${call.caller.id}`, ofCaller],
      [`server ${upstream}`, ofUpstream(upstream)],
    ];
    const rates: SharedRate[] = [];
    const concurrencies: SharedConcurrency[] = [];
    for (const [name, limits] of limitsByName) {
      if (limits === undefined) continue;
      if (limits.rate > 0) rates.push(shares.rate(name, limits.rate));
      if (limits.concurrency > 0)
        concurrencies.push(shares.concurrency(name, limits.concurrency, limits.waiting));
    }
    if (rates.length > 0) await waitForRates(rates, call, { shares, now });
    return runInSlots(concurrencies, call, { shares, now, next });
  };
}

/** Waits until every rate admits the call, or until this gateway's share has grown enough. Rejects after `MAX_WAIT_MS`. */
async function waitForRates(
  rates: readonly SharedRate[],
  call: Call,
  { shares, now }: Pick<FleetLimitOptions, 'shares' | 'now'>,
): Promise<void> {
  const giveUpAt = now() + MAX_WAIT_MS;
  for (const rate of rates) rate.recordDemand();
  for (;;) {
    const waitMs = Math.max(...rates.map((rate) => rate.peek()));
    if (waitMs === 0) break;
    shares.requestMore();
    if (now() >= giveUpAt) throw rateLimitError(call, waitMs);
    await delay(Math.min(waitMs, POLL_MS));
    call.cancellation.throwIfCancelled();
  }
  for (const rate of rates) rate.take();
}

function rateLimitError({ operation: { upstream } }: Call, waitMs: number): GatewayError {
  // The wait is infinite while this gateway has no share of the rate.
  const retryAfterMs = Math.min(waitMs, 60_000);
  const seconds = (retryAfterMs / 1000).toFixed(1);
  return new GatewayError(
    'RATE_LIMITED',
    `All gateways together receive more calls per minute for server "${upstream}", or from you, than the configuration allows (limits). Retry in ${seconds} s.`,
    { details: { upstream, retryAfterMs } },
  );
}

/** Enters one slot of each limit, one after the other, then continues with the call. Each slot is released when the call ends. */
async function runInSlots(
  concurrencies: readonly SharedConcurrency[],
  call: Call,
  { shares, now, next }: Pick<FleetLimitOptions, 'shares' | 'now'> & { readonly next: Next },
): Promise<Payload> {
  const [first, ...rest] = concurrencies;
  if (first === undefined) return next(call);
  const { slots } = first;
  if (!slots.tryEnter()) {
    shares.requestMore();
    if (slots.isFull) throw concurrencyLimitError(call, slots.estimatedWaitMs ?? DEFAULT_RETRY_MS);
    await slots.enter(call.cancellation);
  }
  const startedAt = now();
  return settleThen(runInSlots(rest, call, { shares, now, next }), () => slots.leave(now() - startedAt));
}

function concurrencyLimitError({ operation: { upstream } }: Call, retryAfterMs: number): GatewayError {
  return new GatewayError(
    'UPSTREAM_BUSY',
    `Too many calls to server "${upstream}", or too many of your calls, are waiting on all gateways together (limits.waiting). Retry when some of them have ended.`,
    { details: { upstream, retryAfterMs } },
  );
}
