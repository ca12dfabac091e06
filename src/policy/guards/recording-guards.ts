import type { Payload } from '../../core/lib/payload.ts';
import type { CallObserver } from '../../observability/audit/audit-trail.ts';
import type { CallFacts } from '../../observability/completed-call.ts';
import { readTraceContext, addTraceContext } from '../../observability/telemetry/trace-context.ts';
import type { Call, CallEndListener, Guard } from '../guard.ts';

/** Gives every call a span and passes the trace context to the upstream. The chain contains it only if traces are exported. */
export function traceGuard(): Guard {
  return (call, next) => {
    const { operation } = call;
    const ids = readTraceContext(operation.params);
    return next({
      ...call,
      trace: ids,
      operation: { ...operation, params: addTraceContext(operation.params, ids) },
    });
  };
}

/**
 * Reports every call to the audit log exactly once, however it ends. The cost per call is one object and two clock reads.
 * The top of `audit-trail.ts` lists the steps from here to the database.
 */
export function auditGuard(observer: CallObserver, facts: CallFacts): Guard {
  return (call, next) => {
    call.endListeners.push(new CallRecorder(call, observer, facts));
    return next(call);
  };
}

const { timeOrigin } = performance;

class CallRecorder implements CallEndListener {
  readonly #call: Call;
  readonly #observer: CallObserver;
  readonly #facts: CallFacts;
  readonly #startedAt = performance.now();

  constructor(call: Call, observer: CallObserver, facts: CallFacts) {
    this.#call = call;
    this.#observer = observer;
    this.#facts = facts;
  }

  onEnd(payload: Payload | undefined, error: unknown): void {
    this.#observer.onCallEnd({
      call: this.#call,
      at: timeOrigin + this.#startedAt,
      ms: performance.now() - this.#startedAt,
      payload,
      error,
      isRefused: false,
      rule: undefined,
      facts: this.#facts,
    });
  }
}
