import { NOWHERE } from '../../lib/crowd.ts';
import type { Deadline, Deadlines } from '../../lib/deadlines.ts';
import type { TimeLimit } from '../../model/client-behind.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Call, CallEnd, Guard } from '../call.ts';

interface DeadlineOptions {
  readonly deadlines: Deadlines;
  readonly maxMs: number;
  readonly now: () => number;
}

/** The one place that ends a call for taking too long. Progress, where it is asked for, and questions to the client move the limit up to a maximum. */
export function deadline(options: DeadlineOptions): Guard {
  const { deadlines } = options;
  return (call, next) => {
    const { onProgress, behind } = call;
    const limit = new CallLimit(call, options);
    deadlines.add(limit);
    call.ends.push(limit);
    if (behind !== undefined) behind.limit = limit;
    const inner: Call =
      onProgress === undefined
        ? call
        : {
            ...call,
            onProgress: (progress) => {
              limit.isAlive();
              onProgress(progress);
            },
          };
    return next(inner);
  };
}

/** One of these is made for every call, so it is one object without closures. */
class CallLimit implements Deadline, TimeLimit, CallEnd {
  place = NOWHERE;
  at: number;
  readonly #last: number;
  readonly #call: Call;
  readonly #options: DeadlineOptions;

  constructor(call: Call, options: DeadlineOptions) {
    const begin = options.now();
    this.#call = call;
    this.#options = options;
    this.#last = begin + options.maxMs;
    this.at = Math.min(begin + call.timeoutMs, this.#last);
  }

  /** While a person thinks, only the maximum counts. */
  asking(isOpen: boolean): void {
    if (isOpen) this.at = this.#last;
    else this.isAlive();
  }

  isAlive(): void {
    this.at = Math.min(this.#options.now() + this.#call.timeoutMs, this.#last);
  }

  over(): void {
    this.#options.deadlines.remove(this);
  }

  expire(): void {
    const { cancellation, timeoutMs, hasOwnLimit, operation } = this.#call;
    const isLast = this.at >= this.#last;
    const by = isLast ? 'timeouts.max' : hasOwnLimit === true ? 'call' : 'timeouts.call';
    cancellation.cancel(tooLate(operation.upstream, isLast ? this.#options.maxMs : timeoutMs, by));
  }
}

/** Which limit ended a call, with what gives the next one longer. */
const LIMITS = {
  call: 'the call itself set this limit, and may set a longer one',
  'timeouts.call': 'a longer limit can be set with timeouts.call',
  'timeouts.max': 'timeouts.max allows no call to take longer',
};

export function tooLate(upstream: UpstreamName, timeoutMs: number, by: keyof typeof LIMITS): GatewayError {
  return new GatewayError(
    'CALL_TIMEOUT',
    `Server "${upstream}" gave no answer within ${timeoutMs / 1000} s. The request was cancelled; ${LIMITS[by]}.`,
    { details: { upstream, timeoutMs, limitedBy: by } },
  );
}
