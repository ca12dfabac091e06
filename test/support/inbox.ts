import { scaleDeadline } from './scale-deadline.ts';

interface Waiting<T> {
  readonly wants: (message: T) => boolean;
  readonly resolve: (message: T) => void;
}

/** Received messages in order; callers can wait for one. */
export class Inbox<T> {
  readonly all: T[] = [];
  readonly #waiting = new Set<Waiting<T>>();

  put(message: T): void {
    this.all.push(message);
    for (const waiting of this.#waiting) {
      if (!waiting.wants(message)) continue;
      this.#waiting.delete(waiting);
      waiting.resolve(message);
    }
  }

  /** Returns the first matching message, already received or future. */
  waitFor(wants: (message: T) => boolean, options: { readonly withinMs?: number } = {}): Promise<T> {
    const here = this.all.find(wants);
    return here === undefined ? this.#toCome(wants, options) : Promise.resolve(here);
  }

  /** Waits for the next matching message; those already received do not count. */
  next(
    wants: (message: T) => boolean = () => true,
    options: { readonly withinMs?: number } = {},
  ): Promise<T> {
    return this.#toCome(wants, options);
  }

  #toCome(wants: (message: T) => boolean, { withinMs = 15_000 }: { readonly withinMs?: number }): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => {
          this.#waiting.delete(waiting);
          reject(
            new Error(
              `No such message within ${withinMs} ms; there are: ${JSON.stringify(this.all).slice(0, 2000)}`,
            ),
          );
        },
        scaleDeadline(withinMs, 'tests'),
      );
      const waiting: Waiting<T> = {
        wants,
        resolve(message) {
          clearTimeout(late);
          resolve(message);
        },
      };
      this.#waiting.add(waiting);
    });
  }
}
