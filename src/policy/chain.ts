import type { Guard, Next } from './call.ts';

/** The first guard is the outermost; there are no priorities. */
export function chain(guards: readonly Guard[], last: Next): Next {
  return guards.reduceRight<Next>((next, guard) => (call) => guard(call, next), last);
}
