/**
 * Starts to measure the CPU time of this process; the returned function returns the milliseconds so far. Tests of hostile input limit
 * it instead of the wall-clock time, which depends on the load of the machine.
 */
export function cpuStopwatch(): () => number {
  const start = process.cpuUsage();
  return () => process.cpuUsage(start).user / 1000;
}
