/**
 * Starts to measure the CPU time of this process; the returned function gives the milliseconds so far. Tests of hostile input bound
 * it instead of the time on the clock, which grows with the other load of the machine.
 */
export function cpuStopwatch(): () => number {
  const start = process.cpuUsage();
  return () => process.cpuUsage(start).user / 1000;
}
