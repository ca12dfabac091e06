import type { UpstreamConfig } from '../../config/config.ts';

const HOUR_MS = 60 * 60 * 1000;
const LONGEST_MS = 5 * 60 * 1000;
const LISTED_MS = 1000;

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

/** Where each session has a process of its own, the one beside them is for listing, and in nobody's hands afterwards. */
export function idleSetting(
  { share, idle }: Pick<UpstreamConfig, 'share' | 'idle'>,
  { isOfSession = false }: { readonly isOfSession?: boolean | undefined },
): UpstreamConfig['idle'] {
  return share === 'session' && !isOfSession ? LISTED_MS : idle;
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
  readonly setting: () => 'adaptive' | 'never' | number;
  readonly now: () => number;
  /** Whether there is something to stop. */
  readonly isRunning: () => boolean;
  readonly isBusy: () => boolean;
  readonly onIdle: () => void;
}

/** Fires when a server has stood unused. Re-armed only when it fires, so that a request costs no timer. */
export class IdleTimer {
  readonly #options: IdleTimerOptions;
  readonly #requests = new RecentUse();
  #isUsed = false;
  #lastUsedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleTimerOptions) {
    this.#options = options;
  }

  /** A client asks something; what we ask ourselves says nothing about how much it is used. */
  requested(): void {
    this.#isUsed = true;
    this.#requests.add(this.#options.now());
  }

  /** It was of use until now. */
  used(): void {
    this.#lastUsedAt = this.#options.now();
    if (this.#timer === undefined) this.#wait();
  }

  /** The setting is another one from now on. */
  adjusted(): void {
    this.disarm();
    this.#wait();
  }

  disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #limitMs(): number | undefined {
    const { setting, now, isRunning } = this.#options;
    if (!isRunning()) return undefined;
    return idleLimitMs(setting(), {
      isUsed: this.#isUsed,
      requestsWithinHour: this.#requests.withinHour(now()),
    });
  }

  #wait(): void {
    const limit = this.#limitMs();
    if (limit === undefined) return;
    const left = this.#lastUsedAt + limit - this.#options.now();
    this.#timer = setTimeout(() => this.#check(), Math.max(1, left)).unref();
  }

  #check(): void {
    this.#timer = undefined;
    const { now, isBusy, onIdle } = this.#options;
    const limit = this.#limitMs();
    if (limit === undefined) return;
    if (isBusy()) this.#timer = setTimeout(() => this.#check(), limit).unref();
    else if (this.#lastUsedAt + limit > now()) this.#wait();
    else onIdle();
  }
}
