import { availableParallelism, loadavg } from 'node:os';

/** The load per core that a soak causes by itself, and the tests. */
const USUAL_LOAD = { soak: 4, tests: 2 };

/** Returns a deadline that is longer if other work slows the machine down. */
export function scaleDeadline(ms: number, cause: keyof typeof USUAL_LOAD): number {
  const [ofLastMinute = 0] = loadavg();
  return ms * Math.max(1, ofLastMinute / availableParallelism() / USUAL_LOAD[cause]);
}
