/** Work in many small steps, done in slices with room for everything else between them. */
export interface Sliced<T> {
  /** Does the rest at once, for somebody who cannot wait. */
  finish(): T;
  /** The result, once some slice was the last; rejects when a step throws. */
  readonly done: Promise<T>;
  /** Nothing more is done; `done` stays open. */
  stop(): void;
}

interface SliceOptions {
  /** How long others may have to wait at most, as long as no step takes longer. */
  readonly sliceMs: number;
  readonly pauseMs: number;
  readonly now: () => number;
}

export function inSlices<T>(steps: Generator<void, T>, { sliceMs, pauseMs, now }: SliceOptions): Sliced<T> {
  let timer: NodeJS.Timeout | undefined;
  let result: { readonly value: T } | undefined;
  let settle: { readonly resolve: (value: T) => void; readonly reject: (reason: unknown) => void };
  const done = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  // Whoever wants to know asks for it.
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
        return; // `done` says why.
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
      if (result === undefined) throw new Error('Work without an end.');
      return result.value;
    },
    stop: () => clearTimeout(timer),
  };
}
