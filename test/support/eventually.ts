import { setTimeout as sleep } from 'node:timers/promises';

import { scaleDeadline } from './scale-deadline.ts';

interface WaitOptions {
  /** Deadline on a machine without other work. */
  readonly withinMs?: number;
  /** Names the awaited event in the error. */
  readonly what?: string;
}

/** Repeats a check until it neither throws nor returns false, and returns its value. */
export async function eventually<T>(
  check: () => T | false | Promise<T | false>,
  patience: WaitOptions = {},
): Promise<T> {
  const { withinMs = 15_000, what = 'the check' } = patience;
  const deadline = performance.now() + scaleDeadline(withinMs, 'tests');
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    let last: unknown;
    try {
      const value = await check();
      if (value !== false) return value;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= deadline) {
      throw new Error(`${what} did not pass within ${withinMs} ms${because(last)}`, { cause: last });
    }
    await sleep(pauseMs);
  }
}

/** Repeats a search until it returns a value other than undefined, and returns that value. */
export async function waitForValue<T>(search: () => T | undefined, patience: WaitOptions = {}): Promise<T> {
  return eventually<T>(() => search() ?? false, patience);
}

function because(error: unknown): string {
  return error instanceof Error ? `: ${error.message}` : '';
}
