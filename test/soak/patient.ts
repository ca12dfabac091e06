import { availableParallelism, loadavg } from 'node:os';

/** With so many processes for each core a machine is as busy as the soak itself makes it. */
const usualPerCore = 4;

/** A deadline that becomes longer where other work makes everything slower. */
export function patient(ms: number): number {
  const [ofLastMinute = 0] = loadavg();
  return ms * Math.max(1, ofLastMinute / availableParallelism() / usualPerCore);
}
