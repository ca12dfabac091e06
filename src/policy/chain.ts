import type { Guard, Next } from './call.ts';

/** The first guard is the outermost; there are no priorities. One that throws refuses the call like one that rejects. */
export function chain(guards: readonly Guard[], last: Next): Next {
  return guards.reduceRight<Next>(
    (next, guard) => (call) => {
      try {
        return guard(call, next);
      } catch (error) {
        return Promise.reject(error instanceof Error ? error : new Error(String(error)));
      }
    },
    last,
  );
}
