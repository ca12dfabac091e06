import { Slots } from '../../lib/slots.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Guard } from '../call.ts';

/** Bounds how many calls one upstream has at a time and how many wait for it. */
export function limit(
  widths: (upstream: UpstreamName) => { readonly concurrency: number; readonly waiting: number } | undefined,
): Guard {
  const slots = new Map<UpstreamName, Slots>();
  return async (call, next) => {
    const { upstream } = call.operation;
    let own = slots.get(upstream);
    if (own === undefined) {
      const width = widths(upstream);
      if (width === undefined) return next(call);
      slots.set(upstream, (own = new Slots({ width: width.concurrency, maxWaiting: width.waiting })));
    }
    if (!own.tryEnter()) {
      if (own.isFull) {
        const text = `Server "${upstream}" has too many calls waiting (limits.waiting); try again in a moment.`;
        throw new GatewayError('UPSTREAM_BUSY', text, { details: { upstream, retryAfterMs: 1000 } });
      }
      await own.enter(call.cancellation);
    }
    try {
      return await next(call);
    } finally {
      own.leave();
    }
  };
}
