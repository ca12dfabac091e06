/** Runs at most one at a time; requests during a run become exactly one further run. */
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
    // Asked first: when a run has just ended, the next one is due but has not begun.
    if (next !== undefined) return next;
    if (running === undefined) return start();
    next = running
      .catch(() => {}) // The caller of that run was told; the next run does not depend on it.
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}
