import { signal, type ReadonlySignal } from '@preact/signals';

import { asProblem, type Problem } from '../api/problem.ts';

/** An answer of the gateway that is kept and asked for again when it may have changed. */
export interface Resource<Value> {
  /** The last answer; undefined before the first. */
  readonly value: ReadonlySignal<Value | undefined>;
  /** Why the last question was not answered; an older answer stays. */
  readonly problem: ReadonlySignal<Problem | undefined>;
  /** Asks now; questions while one is under way become one more after it. */
  readonly load: () => Promise<void>;
  /** Asks again if somebody has asked before; otherwise there is nobody to tell. */
  readonly refresh: () => void;
  /** Replaces the answer by what an event or another answer said. */
  readonly put: (change: (value: Value) => Value) => void;
  /** Forgets everything, as after signing out. */
  readonly clear: () => void;
}

export function resource<Value>(ask: () => Promise<Value>): Resource<Value> {
  const value = signal<Value | undefined>(undefined);
  const problem = signal<Problem | undefined>(undefined);
  let isWanted = false;
  let running: Promise<void> | undefined;
  let isStale = false;
  let life = 0;

  const once = async (): Promise<void> => {
    const begun = life;
    try {
      const answer = await ask();
      if (begun !== life) return;
      value.value = answer;
      problem.value = undefined;
    } catch (error) {
      if (begun === life) problem.value = asProblem(error);
    }
  };
  const load = async (): Promise<void> => {
    isWanted = true;
    if (running !== undefined) {
      isStale = true;
      return running;
    }
    running = (async () => {
      do {
        isStale = false;
        await once();
      } while (isStale);
    })().finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    value,
    problem,
    load,
    refresh() {
      if (isWanted) void load();
    },
    put(change) {
      if (value.value !== undefined) value.value = change(value.value);
    },
    clear() {
      life += 1;
      isWanted = false;
      value.value = undefined;
      problem.value = undefined;
    },
  };
}
