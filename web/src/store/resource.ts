import { signal, type ReadonlySignal } from '@preact/signals';

import { toProblem, type Problem } from '../api/problem.ts';

/** A cached response of the gateway, which is loaded again when it may have changed. */
export interface Resource<Value> {
  /** The last response. Undefined before the first one. */
  readonly value: ReadonlySignal<Value | undefined>;
  /** Why the last request failed. Undefined if it succeeded. A failed request keeps the previous value. */
  readonly problem: ReadonlySignal<Problem | undefined>;
  /** Loads the value now. Calls during a running request cause one more request after it. */
  readonly load: () => Promise<void>;
  /** Loads the value again if it was loaded before, and does nothing otherwise. */
  readonly refresh: () => void;
  /** Changes the loaded value, for example after an event. Does nothing if no value is loaded. */
  readonly update: (change: (value: Value) => Value) => void;
  /** Deletes the value, as after signing out. */
  readonly clear: () => void;
}

export function createResource<Value>(request: () => Promise<Value>): Resource<Value> {
  const value = signal<Value | undefined>(undefined);
  const problem = signal<Problem | undefined>(undefined);
  /** Whether `load` was called since the start or the last `clear`. */
  let isUsed = false;
  let running: Promise<void> | undefined;
  /** Whether `load` was called during the running request, whose response may then be outdated. */
  let isStale = false;
  /** Increases with `clear`, so that responses to earlier requests are ignored. */
  let generation = 0;

  const loadOnce = async (): Promise<void> => {
    const startedIn = generation;
    try {
      const response = await request();
      if (startedIn !== generation) return;
      value.value = response;
      problem.value = undefined;
    } catch (error) {
      if (startedIn === generation) problem.value = toProblem(error);
    }
  };
  const load = async (): Promise<void> => {
    isUsed = true;
    if (running !== undefined) {
      isStale = true;
      return running;
    }
    running = (async () => {
      do {
        isStale = false;
        await loadOnce();
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
      if (isUsed) void load();
    },
    update(change) {
      if (value.value !== undefined) value.value = change(value.value);
    },
    clear() {
      generation += 1;
      isUsed = false;
      value.value = undefined;
      problem.value = undefined;
    },
  };
}
