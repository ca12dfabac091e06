import { TokenBucket } from '../../lib/token-bucket.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Guard } from '../call.ts';

/** Callers and servers that are remembered; who was forgotten begins anew. */
const MAX_KEPT = 10_000;

interface Rates {
  /** Calls per minute; 0 is no bound. */
  readonly ofCaller: number;
  readonly ofUpstream: (upstream: UpstreamName) => number;
  readonly now: () => number;
}

/** Refuses what comes faster than it may, and says when there is room again. Nothing waits here. */
export function rate({ ofCaller, ofUpstream, now }: Rates): Guard {
  const callers = new Map<string, TokenBucket>();
  const upstreams = new Map<string, TokenBucket>();
  return (call, next) => {
    const { upstream } = call.operation;
    const own = bucketOf(callers, call.caller.id, ofCaller, now);
    const theirs = bucketOf(upstreams, upstream, ofUpstream(upstream), now);
    // Both or none, so that a refused call costs nothing.
    const retryAfterMs = Math.max(own?.peek() ?? 0, theirs?.peek() ?? 0);
    if (retryAfterMs > 0) {
      const whose = (theirs?.peek() ?? 0) > 0 ? `Server "${upstream}" gets` : 'You make';
      const text = `${whose} more calls than it may (limits); try again in ${(retryAfterMs / 1000).toFixed(1)} s.`;
      return Promise.reject(new GatewayError('RATE_LIMITED', text, { details: { upstream, retryAfterMs } }));
    }
    own?.take();
    theirs?.take();
    return next(call);
  };
}

function bucketOf(
  buckets: Map<string, TokenBucket>,
  key: string,
  perMinute: number,
  now: () => number,
): TokenBucket | undefined {
  if (perMinute === 0) return undefined;
  let bucket = buckets.get(key);
  if (bucket === undefined) {
    if (buckets.size >= MAX_KEPT) buckets.delete(buckets.keys().next().value ?? '');
    buckets.set(key, (bucket = new TokenBucket({ perMinute, now })));
  }
  return bucket;
}
