import type { UpstreamConfig } from '../config/config.ts';

const HOUR_MS = 60 * 60 * 1000;
const LONG_LIMIT_MS = 5 * 60 * 1000;
/** The idle limit of a process that is used only for listing. */
const AFTER_LISTING_MS = 1000;

/** Counts the requests of the last hour, up to 21: the adaptive limit needs to know only whether there were more than 5 or 20. */
export class RecentRequests {
  readonly #times: number[] = [];

  add(now: number): void {
    this.#times.push(now);
    if (this.#times.length > 21) this.#times.shift();
  }

  withinHour(now: number): number {
    return this.#times.filter((time) => now - time < HOUR_MS).length;
  }
}

/** Returns the idle setting. If each session has its own process, the shared process only lists, and stops 1 s after that. */
export function idleSetting(
  { share, idle }: Pick<UpstreamConfig, 'share' | 'idle'>,
  { isOfSession = false }: { readonly isOfSession?: boolean | undefined },
): UpstreamConfig['idle'] {
  return share === 'session' && !isOfSession ? AFTER_LISTING_MS : idle;
}

/** Returns how long a server may be unused before it is stopped; undefined if it is never stopped. */
export function idleLimitMs(
  setting: 'adaptive' | 'never' | number,
  use: { readonly isUsed: boolean; readonly requestsWithinHour: number },
): number | undefined {
  if (setting === 'never') return undefined;
  if (typeof setting === 'number') return setting;
  if (!use.isUsed) return LONG_LIMIT_MS;
  if (use.requestsWithinHour > 20) return LONG_LIMIT_MS;
  if (use.requestsWithinHour > 5) return 3 * 60 * 1000;
  return 60 * 1000;
}

interface IdleTimerOptions {
  readonly setting: () => 'adaptive' | 'never' | number;
  readonly now: () => number;
  /** Returns whether there is a connection to stop. */
  readonly isRunning: () => boolean;
  readonly isBusy: () => boolean;
  readonly onIdle: () => void;
}

/** Calls `onIdle` when a server has been unused for its limit. The timer is renewed only when it fires, so a request needs no timer. */
export class IdleTimer {
  readonly #options: IdleTimerOptions;
  readonly #requests = new RecentRequests();
  #isUsed = false;
  #lastUsedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleTimerOptions) {
    this.#options = options;
  }

  /** Called for requests of clients; requests of the gateway itself do not count as use. */
  recordRequest(): void {
    this.#isUsed = true;
    this.#requests.add(this.#options.now());
  }

  /** Called when a request ends: the server was in use until now. */
  touch(): void {
    this.#lastUsedAt = this.#options.now();
    if (this.#timer === undefined) this.#wait();
  }

  /** Called when the setting has changed. */
  restart(): void {
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
    // A busy server is checked again after the whole limit. If a request has ended by then, the timer waits only for the rest of its limit.
    if (isBusy()) this.#timer = setTimeout(() => this.#check(), limit).unref();
    else if (this.#lastUsedAt + limit > now()) this.#wait();
    else onIdle();
  }
}
