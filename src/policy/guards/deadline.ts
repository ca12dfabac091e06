import type { Deadlines } from '../../lib/deadlines.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Call, Guard } from '../call.ts';

/** The one place that ends a call for taking too long. Progress, where it is asked for, moves the limit up to a maximum. */
export function deadline(options: {
  readonly deadlines: Deadlines;
  readonly maxMs: number;
  readonly now: () => number;
}): Guard {
  const { deadlines, now } = options;
  return (call, next) => {
    const { cancellation, timeoutMs, onProgress } = call;
    const last = now() + options.maxMs;
    const limit = deadlines.add(Math.min(now() + timeoutMs, last), () => cancellation.cancel(tooLate(call)));
    const inner: Call =
      onProgress === undefined
        ? call
        : {
            ...call,
            onProgress: (progress) => {
              limit.at = Math.min(now() + timeoutMs, last);
              onProgress(progress);
            },
          };
    return next(inner).finally(() => deadlines.remove(limit));
  };
}

function tooLate(call: Call): GatewayError {
  const { upstream } = call.operation;
  return new GatewayError(
    'CALL_TIMEOUT',
    `Server "${upstream}" gave no answer within ${call.timeoutMs / 1000} s. The request was cancelled; a longer limit can be set with timeouts.call.`,
    { details: { upstream, timeoutMs: call.timeoutMs } },
  );
}
