import { Cancellation } from '../lib/cancellation.ts';
import { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';

const LISTEN_AGAIN_MS = 1000;

interface ListeningOptions {
  /** Settles when the server has ended it. */
  readonly open: (notifications: JsonObject, cancellation: Cancellation) => Promise<unknown>;
  readonly isClosed: () => boolean;
}

/** A `subscriptions/listen` to a server that is kept open; its notifications come through the handlers of the connection. */
export class Listening {
  readonly #options: ListeningOptions;
  #current: { readonly notifications: JsonObject; readonly cancellation: Cancellation } | undefined;

  constructor(options: ListeningOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#current !== undefined;
  }

  /** The filter is fixed per request: a new one is opened before the old one is given up. */
  want(notifications: JsonObject): void {
    const old = this.#current;
    this.#current = undefined;
    if (Object.keys(notifications).length > 0) {
      const current = { notifications, cancellation: new Cancellation() };
      this.#current = current;
      // A server may end it, and a server may be too old for it after all.
      const again = (): void => this.#again(current);
      this.#options.open(notifications, current.cancellation).then(again, again);
    }
    old?.cancellation.cancel(new GatewayError('CALL_CANCELLED', 'Replaced by a new subscription.'));
  }

  #again(ended: object & { readonly notifications: JsonObject }): void {
    const isCurrent = (): boolean => this.#current === ended && !this.#options.isClosed();
    if (!isCurrent()) return;
    setTimeout(() => {
      if (isCurrent()) this.want(ended.notifications);
    }, LISTEN_AGAIN_MS).unref();
  }
}
