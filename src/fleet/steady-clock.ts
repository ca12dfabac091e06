/**
 * Milliseconds that go on while the process is stopped and while the machine sleeps, and never go back: of the two clocks of a machine one
 * may miss the first or be set back, so that each step is the larger one of both.
 */
export function steadyClock(
  steps: () => number = () => performance.now(),
  wall: () => number = Date.now,
): () => number {
  let [step, at, sum] = [steps(), wall(), 0];
  return () => {
    const [nextStep, nextAt] = [steps(), wall()];
    sum += Math.max(nextStep - step, nextAt - at, 0);
    [step, at] = [nextStep, nextAt];
    return sum;
  };
}
