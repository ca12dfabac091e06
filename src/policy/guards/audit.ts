import type { CallFacts } from '../../observe/ended-call.ts';
import type { CallWatch } from '../../observe/audit/audit-trail.ts';
import type { Guard } from '../call.ts';

/** The outermost guard: tells of each call exactly once, however it ended. It costs a look at the clock at both ends. */
export function audit(watch: CallWatch, facts: CallFacts): Guard {
  const { timeOrigin } = performance;
  return async (call, next) => {
    const begin = performance.now();
    try {
      const payload = await next(call);
      const ms = performance.now() - begin;
      watch.ended({
        call,
        at: timeOrigin + begin,
        ms,
        payload,
        error: undefined,
        isRefused: false,
        rule: undefined,
        facts,
      });
      return payload;
    } catch (error) {
      const ms = performance.now() - begin;
      watch.ended({
        call,
        at: timeOrigin + begin,
        ms,
        payload: undefined,
        error,
        isRefused: false,
        rule: undefined,
        facts,
      });
      throw error;
    }
  };
}
