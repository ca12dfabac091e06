/** Work that runs in short slices, so that the event loop stays responsive. */
export interface SlicedWork<T> {
  /** Does the rest synchronously and returns the result. */
  finish(): T;
  /** Resolves to the result after the last slice; rejects if a step throws. */
  readonly done: Promise<T>;
  /** Stops the work; `done` stays pending. */
  stop(): void;
}

interface SliceOptions {
  /** The length of a slice. A slice takes longer if one of its steps does. */
  readonly sliceMs: number;
  /** The pause before each slice. */
  readonly pauseMs: number;
  readonly now: () => number;
}

/** Runs the steps of a generator in the background, in slices with pauses between them. */
export function runInSlices<T>(
  steps: Generator<void, T>,
  { sliceMs, pauseMs, now }: SliceOptions,
): SlicedWork<T> {
  let timer: NodeJS.Timeout | undefined;
  let result: { readonly value: T } | undefined;
  let settle: { readonly resolve: (value: T) => void; readonly reject: (reason: unknown) => void };
  const done = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  // Avoids an unhandled rejection if no caller awaits `done`.
  done.catch(() => {});
  const advance = (until: number): void => {
    try {
      do {
        const step = steps.next();
        if (step.done === true) {
          result = { value: step.value };
          settle.resolve(step.value);
        }
      } while (result === undefined && now() < until);
    } catch (error) {
      settle.reject(error);
      throw error;
    }
  };
  const later = (): void => {
    timer = setTimeout(() => {
      try {
        advance(now() + sliceMs);
      } catch {
        return; // `done` has the error.
      }
      if (result === undefined) later();
    }, pauseMs).unref();
  };
  later();
  return {
    done,
    finish() {
      clearTimeout(timer);
      if (result === undefined) advance(Infinity);
      if (result === undefined) throw new Error('The generator did not finish.');
      return result.value;
    },
    stop: () => clearTimeout(timer),
  };
}
