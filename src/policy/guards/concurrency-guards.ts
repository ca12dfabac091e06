import { GatewayError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { Payload } from '../../core/lib/payload.ts';
import { Slots } from '../../core/lib/slots.ts';
import type { Call, CallEndListener, Guard, Next } from '../guard.ts';
import { getOrCreateCounter } from '../guard-state.ts';
import type { GuardState } from '../guard-state.ts';

interface ConcurrencyLimits {
  readonly concurrency: number;
  readonly waiting: number;
}

/** Retry time in milliseconds for a refused call if no call has ended yet and there is no average duration. */
const DEFAULT_RETRY_MS = 1000;

/** Limits how many calls of one caller run at the same time at all upstreams together, and how many more wait. */
export function callerConcurrencyGuard({
  concurrency,
  waiting,
  now,
}: ConcurrencyLimits & { readonly now: () => number }): Guard {
  // `users` counts the running and waiting calls of a caller.
  const callers = new Map<string, { readonly slots: Slots; users: number }>();
  return async (call, next) => {
    const { id } = call.caller;
    const state = callers.get(id) ?? {
      slots: new Slots({ width: concurrency, maxWaiting: waiting }),
      users: 0,
    };
    const { slots } = state;
    if (!slots.tryEnter()) {
      if (slots.isFull) throw callerLimitError(slots);
      state.users++;
      await slots.enter(call.cancellation).catch((error: unknown) => {
        releaseCaller(callers, id, state);
        throw error;
      });
    } else {
      // A new state always has a free slot, so it is stored here only.
      callers.set(id, state);
      state.users++;
    }
    const startedAt = now();
    try {
      return await next(call);
    } finally {
      slots.leave(now() - startedAt);
      releaseCaller(callers, id, state);
    }
  };
}

/** Removes a caller after its last call, so that memory does not grow with the number of callers. */
function releaseCaller(callers: Map<string, { users: number }>, id: string, state: { users: number }): void {
  if (--state.users === 0) callers.delete(id);
}

function callerLimitError(slots: Slots): GatewayError {
  return new GatewayError(
    'RATE_LIMITED',
    'Too many of your calls are waiting (limits.callerConcurrency). Retry when some of them have ended.',
    { details: { retryAfterMs: slots.estimatedWaitMs ?? DEFAULT_RETRY_MS } },
  );
}

/** Limits how many calls run at one upstream at the same time, and how many more wait. `fleetLimitGuard` does so across replicas. */
export function upstreamConcurrencyGuard(
  limitsOf: (upstream: UpstreamName) => ConcurrencyLimits | undefined,
  now: () => number,
  upstreamSlots: GuardState['upstreamSlots'] = new Map(),
): Guard {
  const runInSlot = (slots: Slots, call: Call, next: Next): Promise<Payload> => {
    call.endListeners.push(new OccupiedSlot(slots, now));
    return next(call);
  };
  return (call, next) => {
    const { upstream } = call.operation;
    const limits = limitsOf(upstream);
    if (limits === undefined) return next(call);
    const { concurrency: width, waiting: maxWaiting } = limits;
    const slots = getOrCreateCounter(
      upstreamSlots,
      upstream,
      width,
      maxWaiting,
      () => new Slots({ width, maxWaiting }),
    );
    if (slots.tryEnter()) return runInSlot(slots, call, next);
    if (slots.isFull) return Promise.reject(upstreamLimitError(upstream, slots));
    return slots.enter(call.cancellation).then(() => runInSlot(slots, call, next));
  };
}

/** Releases the slot of a call when the call ends. */
class OccupiedSlot implements CallEndListener {
  readonly #slots: Slots;
  readonly #now: () => number;
  readonly #startedAt: number;

  constructor(slots: Slots, now: () => number) {
    this.#slots = slots;
    this.#now = now;
    this.#startedAt = now();
  }

  onEnd(): void {
    this.#slots.leave(this.#now() - this.#startedAt);
  }
}

function upstreamLimitError(upstream: UpstreamName, slots: Slots): GatewayError {
  return new GatewayError(
    'UPSTREAM_BUSY',
    `Too many calls are waiting for server "${upstream}" (limits.waiting). Retry when some of them have ended.`,
    { details: { upstream, retryAfterMs: slots.estimatedWaitMs ?? DEFAULT_RETRY_MS } },
  );
}
