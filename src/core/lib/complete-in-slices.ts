import { setImmediate as nextTurn } from 'node:timers/promises';

/** The time for which steps run before other work of the event loop gets its turn. */
const SLICE_MS = 10;

/**
 * Runs all steps without blocking the event loop. Use it for work whose size a server determines, such as one step for each entry of its
 * list. For background work, use `runInSlices`, which also pauses between slices.
 */
export async function completeInSlices<Result>(steps: Generator<undefined, Result>): Promise<Result> {
  let end = performance.now() + SLICE_MS;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + SLICE_MS;
  }
}

/** Runs the same steps without interruption, for callers that cannot wait. */
export function completeAtOnce<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
