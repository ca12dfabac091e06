import type { Payload } from '../../lib/payload.ts';
import { Slots } from '../../lib/slots.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Call, CallEnd, Guard, Next } from '../call.ts';
import { counted } from '../guard-memory.ts';
import type { GuardMemory } from '../guard-memory.ts';

/** Bounds how many calls one upstream has at a time and how many wait for it. */
export function limit(
  widths: (upstream: UpstreamName) => { readonly concurrency: number; readonly waiting: number } | undefined,
  now: () => number,
  slots: GuardMemory['upstreamSlots'] = new Map(),
): Guard {
  const within = (own: Slots, call: Call, next: Next): Promise<Payload> => {
    call.ends.push(new Taken(own, now));
    return next(call);
  };
  return (call, next) => {
    const { upstream } = call.operation;
    const limits = widths(upstream);
    if (limits === undefined) return next(call);
    const { concurrency: width, waiting: maxWaiting } = limits;
    const own = counted(slots, upstream, width, maxWaiting, () => new Slots({ width, maxWaiting }));
    if (own.tryEnter()) return within(own, call, next);
    if (!own.isFull) return own.enter(call.cancellation).then(() => within(own, call, next));
    const text = `Server "${upstream}" has too many calls waiting (limits.waiting); try again in a moment.`;
    const retryAfterMs = own.roomInMs ?? 1000;
    return Promise.reject(new GatewayError('UPSTREAM_BUSY', text, { details: { upstream, retryAfterMs } }));
  };
}

/** A slot that a call has. */
class Taken implements CallEnd {
  readonly #slots: Slots;
  readonly #now: () => number;
  readonly #begin: number;

  constructor(slots: Slots, now: () => number) {
    this.#slots = slots;
    this.#now = now;
    this.#begin = now();
  }

  over(): void {
    this.#slots.leave(this.#now() - this.#begin);
  }
}
