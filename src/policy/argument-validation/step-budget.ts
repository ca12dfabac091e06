/**
 * Counts the work of one validation. A step is about as much work as evaluating one keyword, so the budget bounds the time for which
 * a hostile schema or hostile arguments can block the event loop.
 */
export class StepBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** Throws `UndecidedError` once the budget is used up. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new UndecidedError();
  }
}

/** Thrown when a validation would take too long. The arguments are then sent to the server, which validates them itself. */
export class UndecidedError extends Error {}
