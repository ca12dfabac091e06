/** Returns a function that runs `run`, but never twice at the same time. All calls during a run share one further run after it. */
export function coalesce(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    running = run().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    // This check comes first: when a run has just ended, the next one may be scheduled although none is running.
    if (next !== undefined) return next;
    if (running === undefined) return start();
    next = running
      .catch(() => {}) // The caller of that run gets its error; the next run does not depend on it.
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}
