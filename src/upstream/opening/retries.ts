import { backoff } from '../../lib/backoff.ts';
import type { UpstreamState } from '../state.ts';

interface RetriesOptions {
  readonly now: () => number;
  readonly random?: (() => number) | undefined;
  readonly onDue: () => void;
}

/** When a server that could not be reached is tried again. */
export class Retries {
  readonly #options: RetriesOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RetriesOptions) {
    this.#options = options;
  }

  /** Each attempt that failed makes the pause longer, by chance. */
  at(attempt: number): number {
    const { now, random } = this.#options;
    return now() + backoff(attempt, { baseMs: 500, maxMs: 60_000, random });
  }

  schedule(state: UpstreamState): void {
    if (state.at !== 'waiting') return;
    const { now, onDue } = this.#options;
    this.#timer = setTimeout(onDue, Math.max(0, state.retryAt - now())).unref();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
