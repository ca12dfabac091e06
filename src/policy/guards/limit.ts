import { Slots } from '../../lib/slots.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Guard } from '../call.ts';
import { counted } from '../guard-memory.ts';
import type { GuardMemory } from '../guard-memory.ts';

/** Bounds how many calls one upstream has at a time and how many wait for it. */
export function limit(
  widths: (upstream: UpstreamName) => { readonly concurrency: number; readonly waiting: number } | undefined,
  now: () => number,
  slots: GuardMemory['upstreamSlots'] = new Map(),
): Guard {
  return async (call, next) => {
    const { upstream } = call.operation;
    const limits = widths(upstream);
    if (limits === undefined) return next(call);
    const { concurrency: width, waiting: maxWaiting } = limits;
    const own = counted(slots, upstream, width, maxWaiting, () => new Slots({ width, maxWaiting }));
    if (!own.tryEnter()) {
      if (own.isFull) {
        const text = `Server "${upstream}" has too many calls waiting (limits.waiting); try again in a moment.`;
        const retryAfterMs = own.roomInMs ?? 1000;
        throw new GatewayError('UPSTREAM_BUSY', text, { details: { upstream, retryAfterMs } });
      }
      await own.enter(call.cancellation);
    }
    const begin = now();
    try {
      return await next(call);
    } finally {
      own.leave(now() - begin);
    }
  };
}
