import { availableParallelism, loadavg } from 'node:os';

/** The load per core that the soak itself causes. */
const usualPerCore = 4;

/** Returns a deadline that is longer if other work slows the machine down. */
export function scaleDeadline(ms: number): number {
  const [ofLastMinute = 0] = loadavg();
  return ms * Math.max(1, ofLastMinute / availableParallelism() / usualPerCore);
}
