import { GatewayError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { Deadline, Deadlines } from '../../core/lib/deadlines.ts';
import { NOT_IN_SET } from '../../core/lib/swap-remove-set.ts';
import type { CallDeadline } from '../../core/requesting-client.ts';
import type { Call, CallEndListener, Guard } from '../guard.ts';

interface DeadlineOptions {
  readonly deadlines: Deadlines;
  readonly maxMs: number;
  readonly now: () => number;
}

/**
 * Cancels calls that exceed their timeout. Progress notifications that the client asked for, and questions to the client, extend the
 * deadline, but never beyond `maxMs` after the start.
 */
export function deadlineGuard(options: DeadlineOptions): Guard {
  const { deadlines } = options;
  return (call, next) => {
    const { onProgress, requestingClient } = call;
    const timeout = new CallTimeout(call, options);
    deadlines.add(timeout);
    call.endListeners.push(timeout);
    if (requestingClient !== undefined) requestingClient.deadline = timeout;
    if (onProgress === undefined) return next(call);
    return next({
      ...call,
      onProgress: (progress) => {
        timeout.extend();
        onProgress(progress);
      },
    });
  };
}

/** The deadline of one call. It is a class without closures, because every call creates one. */
class CallTimeout implements Deadline, CallDeadline, CallEndListener {
  index = NOT_IN_SET;
  at: number;
  readonly #latestAt: number;
  readonly #call: Call;
  readonly #options: DeadlineOptions;

  constructor(call: Call, options: DeadlineOptions) {
    const startedAt = options.now();
    this.#call = call;
    this.#options = options;
    this.#latestAt = startedAt + options.maxMs;
    this.at = Math.min(startedAt + call.timeoutMs, this.#latestAt);
  }

  /** Suspends the timeout while a person answers a question, so that only the maximum applies, and restarts it afterwards. */
  setQuestionOpen(isOpen: boolean): void {
    if (isOpen) this.at = this.#latestAt;
    else this.extend();
  }

  /** Restarts the timeout from now on. */
  extend(): void {
    this.at = Math.min(this.#options.now() + this.#call.timeoutMs, this.#latestAt);
  }

  onEnd(): void {
    this.#options.deadlines.remove(this);
  }

  expire(): void {
    const { cancellation, timeoutMs, hasRequestTimeout, operation } = this.#call;
    const isLatest = this.at >= this.#latestAt;
    const setting = isLatest ? 'timeouts.max' : hasRequestTimeout === true ? 'call' : 'timeouts.call';
    cancellation.cancel(
      timeoutError(operation.upstream, isLatest ? this.#options.maxMs : timeoutMs, setting),
    );
  }
}

/** Explanations for the error message, by the limit that ended the call. */
const LIMIT_HINTS = {
  call: 'the call itself set this limit, and may set a longer one',
  'timeouts.call': 'a longer limit can be set with timeouts.call',
  'timeouts.max': 'timeouts.max allows no call to take longer',
};

export function timeoutError(
  upstream: UpstreamName,
  timeoutMs: number,
  limitedBy: keyof typeof LIMIT_HINTS,
): GatewayError {
  return new GatewayError(
    'CALL_TIMEOUT',
    `Server "${upstream}" gave no answer within ${timeoutMs / 1000} s. The request was cancelled; ${LIMIT_HINTS[limitedBy]}.`,
    { details: { upstream, timeoutMs, limitedBy } },
  );
}
