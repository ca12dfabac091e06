import { Slots } from '../../lib/slots.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Guard } from '../call.ts';

/** Bounds how many calls one caller has under way, over all servers; a bounded number of further ones wait. */
export function callerLimit({
  concurrency,
  waiting,
  now,
}: {
  readonly concurrency: number;
  readonly waiting: number;
  readonly now: () => number;
}): Guard {
  const slots = new Map<string, { readonly own: Slots; users: number }>();
  return async (call, next) => {
    const { id } = call.caller;
    const kept = slots.get(id) ?? { own: new Slots({ width: concurrency, maxWaiting: waiting }), users: 0 };
    const { own } = kept;
    if (!own.tryEnter()) {
      if (own.isFull) {
        const text = 'Too many of your calls are waiting (limits.callerConcurrency); try again in a moment.';
        throw new GatewayError('RATE_LIMITED', text, { details: { retryAfterMs: own.roomInMs ?? 1000 } });
      }
      kept.users++;
      await own.enter(call.cancellation).catch((error: unknown) => {
        leave(slots, id, kept);
        throw error;
      });
    } else {
      slots.set(id, kept);
      kept.users++;
    }
    const begin = now();
    try {
      return await next(call);
    } finally {
      own.leave(now() - begin);
      leave(slots, id, kept);
    }
  };
}

/** A caller without calls is not remembered. */
function leave(slots: Map<string, { users: number }>, id: string, kept: { users: number }): void {
  if (--kept.users === 0) slots.delete(id);
}
