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
    const limit = deadlines.add(Math.min(begin + timeoutMs, last), () =>
      cancellation.cancel(tooLate(call.operation.upstream, timeoutMs)),
    );
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

export function tooLate(upstream: UpstreamName, timeoutMs: number): GatewayError {
  return new GatewayError(
    'CALL_TIMEOUT',
    `Server "${upstream}" gave no answer within ${timeoutMs / 1000} s. The request was cancelled; a longer limit can be set with timeouts.call.`,
    { details: { upstream, timeoutMs } },
  );
}
