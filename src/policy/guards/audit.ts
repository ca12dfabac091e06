import type { Payload } from '../../lib/payload.ts';
import type { CallFacts } from '../../observe/ended-call.ts';
import type { CallWatch } from '../../observe/audit/audit-trail.ts';
import type { Call, CallEnd, Guard } from '../call.ts';

const { timeOrigin } = performance;

/** The outermost guard: tells of each call exactly once, however it ended. It costs a look at the clock at both ends. */
export function audit(watch: CallWatch, facts: CallFacts): Guard {
  return (call, next) => {
    call.ends.push(new Watched(call, watch, facts));
    return next(call);
  };
}

class Watched implements CallEnd {
  readonly #call: Call;
  readonly #watch: CallWatch;
  readonly #facts: CallFacts;
  readonly #begin = performance.now();

  constructor(call: Call, watch: CallWatch, facts: CallFacts) {
    this.#call = call;
    this.#watch = watch;
    this.#facts = facts;
  }

  over(payload: Payload | undefined, error: unknown): void {
    this.#watch.ended({
      call: this.#call,
      at: timeOrigin + this.#begin,
      ms: performance.now() - this.#begin,
      payload,
      error,
      isRefused: false,
      rule: undefined,
      facts: this.#facts,
    });
  }
}
