const HOUR_MS = 60 * 60 * 1000;
const LONGEST_MS = 5 * 60 * 1000;

/** Counts as far as the rule needs to count: whether there were more than five or more than twenty within an hour. */
export class RecentUse {
  readonly #times: number[] = [];

  add(now: number): void {
    this.#times.push(now);
    if (this.#times.length > 21) this.#times.shift();
  }

  withinHour(now: number): number {
    return this.#times.filter((time) => now - time < HOUR_MS).length;
  }
}

/** How long a server may stand unused before it is stopped; undefined for ever. */
export function idleLimitMs(
  setting: 'adaptive' | 'never' | number,
  use: { readonly isUsed: boolean; readonly requestsWithinHour: number },
): number | undefined {
  if (setting === 'never') return undefined;
  if (typeof setting === 'number') return setting;
  if (!use.isUsed) return LONGEST_MS;
  if (use.requestsWithinHour > 20) return LONGEST_MS;
  if (use.requestsWithinHour > 5) return 3 * 60 * 1000;
  return 60 * 1000;
}

interface IdleTimerOptions {
  readonly now: () => number;
  /** Undefined while there is nothing to stop, or it may stand for ever. */
  readonly limitMs: () => number | undefined;
  readonly isBusy: () => boolean;
  readonly lastUsedAt: () => number;
  readonly onIdle: () => void;
}

/** Fires when something has stood unused. Re-armed only when it fires, so that a request costs no timer. */
export class IdleTimer {
  readonly #options: IdleTimerOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleTimerOptions) {
    this.#options = options;
  }

  arm(): void {
    if (this.#timer === undefined) this.#wait();
  }

  disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(): void {
    const { now, limitMs, lastUsedAt } = this.#options;
    const limit = limitMs();
    if (limit === undefined) return;
    this.#timer = setTimeout(() => this.#check(), Math.max(1, lastUsedAt() + limit - now())).unref();
  }

  #check(): void {
    this.#timer = undefined;
    const { now, limitMs, isBusy, lastUsedAt, onIdle } = this.#options;
    const limit = limitMs();
    if (limit === undefined) return;
    if (isBusy()) this.#timer = setTimeout(() => this.#check(), limit).unref();
    else if (lastUsedAt() + limit > now()) this.#wait();
    else onIdle();
  }
}
