import type { Payload } from '../../lib/payload.ts';
import type { CallFacts } from '../../observe/ended-call.ts';
import type { CallWatch } from '../../observe/audit/audit-trail.ts';
import type { Guard } from '../call.ts';

/** The outermost guard: tells of each call exactly once, however it ended. It costs a look at the clock at both ends. */
export function audit(watch: CallWatch, facts: CallFacts): Guard {
  const { timeOrigin } = performance;
  return (call, next) => {
    const begin = performance.now();
    const ended = (payload: Payload | undefined, error: unknown): void =>
      watch.ended({
        call,
        at: timeOrigin + begin,
        ms: performance.now() - begin,
        payload,
        error,
        isRefused: false,
        rule: undefined,
        facts,
      });
    return next(call).then(
      (payload) => {
        ended(payload, undefined);
        return payload;
      },
      (error: unknown) => {
        ended(undefined, error);
        throw error;
      },
    );
  };
}
