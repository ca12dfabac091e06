import { setTimeout as delay } from 'node:timers/promises';

import { afterwards } from '../../lib/afterwards.ts';
import type { Payload } from '../../lib/payload.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Call, Guard } from '../call.ts';
import type { SharedPlaces, SharedRate, Shares } from './shares.ts';

interface Limits {
  readonly rate: number;
  readonly concurrency: number;
  readonly waiting: number;
}

interface FleetLimitsOptions {
  readonly shares: Shares;
  /** Undefined where they are counted by each gateway for itself. */
  readonly ofCaller: Limits | undefined;
  readonly ofUpstream: (upstream: UpstreamName) => Limits | undefined;
  readonly now: () => number;
}

/** As long as a call waits for its turn in a rate that one gateway counts. */
const MAX_WAIT_MS = 2000;
const LOOK_AGAIN_MS = 20;

/** `limits` with `scope: "fleet"`: what all gateways together give to a server and take from a caller. */
export function fleetLimits({ shares, ofCaller, ofUpstream, now }: FleetLimitsOptions): Guard {
  return async (call, next) => {
    const { upstream } = call.operation;
    const limited: readonly (readonly [string, Limits | undefined])[] = [
      [`caller ${call.caller.id}`, ofCaller],
      [`server ${upstream}`, ofUpstream(upstream)],
    ];
    const rates: SharedRate[] = [];
    const places: SharedPlaces[] = [];
    for (const [name, limits] of limited) {
      if (limits === undefined) continue;
      if (limits.rate > 0) rates.push(shares.rate(name, limits.rate));
      if (limits.concurrency > 0) places.push(shares.places(name, limits.concurrency, limits.waiting));
    }
    if (rates.length > 0) await paced(rates, call, { shares, now });
    return within(places, call, { shares, now, next });
  };
}

/** Waits for its turn, also where our share has to grow first. */
async function paced(
  rates: readonly SharedRate[],
  call: Call,
  { shares, now }: Pick<FleetLimitsOptions, 'shares' | 'now'>,
): Promise<void> {
  const giveUpAt = now() + MAX_WAIT_MS;
  for (const rate of rates) rate.ask();
  for (;;) {
    const waitMs = Math.max(...rates.map((rate) => rate.peek()));
    if (waitMs === 0) break;
    shares.isShort();
    if (now() >= giveUpAt) throw tooFast(call, waitMs);
    await delay(Math.min(waitMs, LOOK_AGAIN_MS));
    call.cancellation.throwIfCancelled();
  }
  for (const rate of rates) rate.take();
}

function tooFast({ operation: { upstream } }: Call, waitMs: number): GatewayError {
  const retryAfterMs = Math.min(waitMs, 60_000);
  const text = `All gateways together get more calls for server "${upstream}", or from you, than they may (limits); try again in ${(retryAfterMs / 1000).toFixed(1)} s.`;
  return new GatewayError('RATE_LIMITED', text, { details: { upstream, retryAfterMs } });
}

async function within(
  places: readonly SharedPlaces[],
  call: Call,
  { shares, now, next }: Pick<FleetLimitsOptions, 'shares' | 'now'> & { readonly next: Parameters<Guard>[1] },
): Promise<Payload> {
  const [first, ...rest] = places;
  if (first === undefined) return next(call);
  const { slots } = first;
  if (!slots.tryEnter()) {
    shares.isShort();
    if (slots.isFull) throw tooMany(call, slots.roomInMs ?? 1000);
    await slots.enter(call.cancellation);
  }
  const begin = now();
  return afterwards(within(rest, call, { shares, now, next }), () => slots.leave(now() - begin));
}

function tooMany({ operation: { upstream } }: Call, retryAfterMs: number): GatewayError {
  const text = `Too many calls wait for server "${upstream}", or are yours, on all gateways together (limits.waiting); try again in a moment.`;
  return new GatewayError('UPSTREAM_BUSY', text, { details: { upstream, retryAfterMs } });
}
