/**
 * Returns a clock in milliseconds that never goes back and keeps running while the process is suspended or
 * the machine sleeps. The monotonic clock of a machine may stop during sleep, and its wall clock may be set
 * back, so each reading adds the larger of their two advances.
 */
export function createSteadyClock(
  monotonicNow: () => number = () => performance.now(),
  wallNow: () => number = Date.now,
): () => number {
  let [lastMonotonic, lastWall, elapsed] = [monotonicNow(), wallNow(), 0];
  return () => {
    const [monotonic, wall] = [monotonicNow(), wallNow()];
    elapsed += Math.max(monotonic - lastMonotonic, wall - lastWall, 0);
    [lastMonotonic, lastWall] = [monotonic, wall];
    return elapsed;
  };
}
