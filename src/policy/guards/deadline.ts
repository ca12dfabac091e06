import { afterwards } from '../../lib/afterwards.ts';
import type { Deadlines } from '../../lib/deadlines.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Call, Guard } from '../call.ts';

/** The one place that ends a call for taking too long. Progress, where it is asked for, and questions to the client move the limit up to a maximum. */
export function deadline(options: {
  readonly deadlines: Deadlines;
  readonly maxMs: number;
  readonly now: () => number;
}): Guard {
  const { deadlines, now } = options;
  return (call, next) => {
    const { cancellation, timeoutMs, onProgress, behind } = call;
    const begin = now();
    const last = begin + options.maxMs;
    const limit = deadlines.add(Math.min(begin + timeoutMs, last), () => {
      const { upstream } = call.operation;
      const isLast = limit.at >= last;
      const by = isLast ? 'timeouts.max' : call.hasOwnLimit === true ? 'call' : 'timeouts.call';
      cancellation.cancel(tooLate(upstream, isLast ? options.maxMs : timeoutMs, by));
    });
    const isAlive = (): void => {
      limit.at = Math.min(now() + timeoutMs, last);
    };
    // While a person thinks, only the maximum counts.
    if (behind !== undefined) behind.onAsking = (isOpen) => (isOpen ? (limit.at = last) : isAlive());
    const inner: Call =
      onProgress === undefined
        ? call
        : {
            ...call,
            onProgress: (progress) => {
              isAlive();
              onProgress(progress);
            },
          };
    return afterwards(next(inner), () => deadlines.remove(limit));
  };
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
