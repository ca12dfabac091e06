import type { Cancellation } from '../../lib/cancellation.ts';
import { Paced } from '../../lib/paced.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Guard } from '../call.ts';
import { counted, guardMemory } from '../guard-memory.ts';
import type { GuardMemory } from '../guard-memory.ts';

/** Callers and servers that are remembered; who was forgotten begins anew. */
const MAX_KEPT = 10_000;
/** What is due within this time waits for it; a client that is told to come back so soon would only ask again. */
const MAX_WAIT_MS = 2000;

interface Rate {
  /** Calls per minute; 0 is no bound. */
  readonly rate: number;
  /** Calls that may wait for their turn. */
  readonly waiting: number;
}

interface Rates {
  readonly ofCaller: Rate;
  readonly ofUpstream: (upstream: UpstreamName) => Rate | undefined;
  readonly now: () => number;
}

/** Lets what comes faster than it may wait for a moment, refuses the rest, and says when there is room again. */
export function rate(
  { ofCaller, ofUpstream, now }: Rates,
  memory: Pick<GuardMemory, 'callerRates' | 'upstreamRates'> = guardMemory(),
): Guard {
  const { callerRates: callers, upstreamRates: upstreams } = memory;
  return async (call, next) => {
    const { upstream } = call.operation;
    const own = pacedBy(callers, call.caller.id, ofCaller, now);
    const theirs = pacedBy(upstreams, upstream, ofUpstream(upstream), now);
    const paced = [own, theirs].filter((each) => each !== undefined);
    const waitMs = Math.max(0, ...paced.map(({ bucket }) => bucket.peek()));
    if (waitMs > MAX_WAIT_MS || paced.some((each) => waitMs > 0 && each.isFull))
      throw tooFast(upstream, { waitMs, isServer: (theirs?.bucket.peek() ?? 0) >= waitMs });
    // Of all or of none, so that a refused call costs nothing.
    for (const { bucket } of paced) bucket.take();
    if (waitMs > 0) await waitIn(paced, waitMs, call.cancellation);
    return next(call);
  };
}

/** Rejects when the call is cancelled before; its turn is somebody else's then. */
async function waitIn(paced: readonly Paced[], waitMs: number, cancellation: Cancellation): Promise<void> {
  for (const each of paced) each.waiting++;
  try {
    await new Promise<void>((resolve, reject) => {
      const giveUp = (reason: Error): void => {
        clearTimeout(timer);
        for (const { bucket } of paced) bucket.giveBack();
        reject(reason);
      };
      const timer = setTimeout(() => {
        cancellation.offCancel(giveUp);
        resolve();
      }, waitMs);
      cancellation.onCancel(giveUp);
    });
  } finally {
    for (const each of paced) each.waiting--;
  }
}

function tooFast(
  upstream: UpstreamName,
  { waitMs: retryAfterMs, isServer }: { readonly waitMs: number; readonly isServer: boolean },
): GatewayError {
  const whose = isServer ? `Server "${upstream}" gets` : 'You make';
  const text = `${whose} more calls than it may (limits); try again in ${(retryAfterMs / 1000).toFixed(1)} s.`;
  return new GatewayError('RATE_LIMITED', text, { details: { upstream, retryAfterMs } });
}

function pacedBy(
  kept: GuardMemory['callerRates'],
  key: string,
  wanted: Rate | undefined,
  now: () => number,
): Paced | undefined {
  if (wanted === undefined || wanted.rate === 0) return undefined;
  const { rate: perMinute, waiting: maxWaiting } = wanted;
  return counted(kept, key, perMinute, maxWaiting, () => {
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? '');
    return new Paced({ perMinute, maxWaiting, now });
  });
}
