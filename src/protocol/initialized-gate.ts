import type { OutgoingMessage } from './client-transport.ts';

/** The gate opens after this time even if the server has not accepted the notification. */
const MAX_WAIT_MS = 5000;

/**
 * Queues messages until the server has accepted `notifications/initialized`. Over HTTP, every message may use its own socket and
 * overtake an earlier one, and servers refuse requests that arrive before that notification.
 */
export class InitializedGate {
  readonly #post: (message: OutgoingMessage) => void;
  readonly #onOpen: () => void;
  /** Exists from `notifications/initialized` until the gate opens. */
  #queue: OutgoingMessage[] | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(post: (message: OutgoingMessage) => void, onOpen: () => void) {
    this.#post = post;
    this.#onOpen = onOpen;
  }

  /** Sends the message now, or when the gate opens. */
  send(message: OutgoingMessage): void {
    if (this.#queue !== undefined) {
      this.#queue.push(message);
      return;
    }
    if (isInitializedNotification(message)) {
      this.#queue = [];
      // A server that never answers the notification must not block everything else.
      this.#timer = setTimeout(() => this.open(), MAX_WAIT_MS);
      // Deferred, because the negotiated version, which the headers must contain, is set right after this call.
      process.nextTick(() => {
        if (!this.#isClosed) this.#post(message);
      });
      return;
    }
    this.#post(message);
  }

  open(): void {
    const queue = this.#queue;
    if (queue === undefined || this.#isClosed) return;
    this.#queue = undefined;
    clearTimeout(this.#timer);
    for (const message of queue) this.#post(message);
    this.#onOpen();
  }

  /** Removes a request that was not sent yet; returns whether there was one. */
  remove(id: number): boolean {
    const index = this.#queue?.findIndex((message) => message.kind === 'request' && message.id === id) ?? -1;
    if (index >= 0) this.#queue?.splice(index, 1);
    return index >= 0;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}

export function isInitializedNotification(message: OutgoingMessage): boolean {
  return message.kind === 'notification' && message.method === 'notifications/initialized';
}
