/** Work that runs in short slices, so that the event loop stays responsive. */
export interface SlicedWork<T> {
  /** Runs the remaining slices without pauses, the first one synchronously, and returns `done`. */
  finish(): Promise<T>;
  /** Resolves to the result after the last slice; rejects if a step throws. */
  readonly done: Promise<T>;
  /** Stops the work; `done` stays pending. Has no effect after `finish`, because a caller awaits the result. */
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
  let isUrgent = false;
  let isSettled = false;
  let settle: { readonly resolve: (value: T) => void; readonly reject: (reason: unknown) => void };
  const done = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  // Avoids an unhandled rejection if no caller awaits `done`.
  done.catch(() => {});
  const runSlice = (): void => {
    const end = now() + sliceMs;
    try {
      let step = steps.next();
      while (step.done !== true && now() < end) step = steps.next();
      if (step.done === true) {
        isSettled = true;
        settle.resolve(step.value);
      }
    } catch (error) {
      isSettled = true;
      settle.reject(error);
    }
    if (isSettled) return;
    if (isUrgent) setImmediate(runSlice);
    else timer = setTimeout(runSlice, pauseMs).unref();
  };
  timer = setTimeout(runSlice, pauseMs).unref();
  return {
    done,
    finish() {
      clearTimeout(timer);
      if (!isUrgent && !isSettled) {
        isUrgent = true;
        runSlice();
      }
      return done;
    },
    stop: () => clearTimeout(timer),
  };
}
