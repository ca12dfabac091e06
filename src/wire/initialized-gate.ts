import type { Outgoing } from './stream.ts';

const LONGEST_MS = 5000;

/**
 * Over HTTP every message takes its own socket and may overtake the one before. Servers refuse requests that arrive
 * before `notifications/initialized`, so what is sent after that waits until the server has taken it.
 */
export class InitializedGate {
  readonly #post: (message: Outgoing) => void;
  readonly #onOpen: () => void;
  #held: Outgoing[] | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(post: (message: Outgoing) => void, onOpen: () => void) {
    this.#post = post;
    this.#onOpen = onOpen;
  }

  /** Sends the message, or keeps it for later. */
  pass(message: Outgoing): void {
    if (this.#held !== undefined) {
      this.#held.push(message);
      return;
    }
    if (isHandshake(message)) {
      this.#held = [];
      // A server that takes the notification and never says so must not hold up the rest.
      this.#timer = setTimeout(() => this.open(), LONGEST_MS);
      // The agreed version, which its headers must carry, may be told in the same breath but after it.
      process.nextTick(() => {
        if (!this.#isClosed) this.#post(message);
      });
      return;
    }
    this.#post(message);
  }

  open(): void {
    const held = this.#held;
    if (held === undefined || this.#isClosed) return;
    this.#held = undefined;
    clearTimeout(this.#timer);
    for (const message of held) this.#post(message);
    this.#onOpen();
  }

  /** Whether this request was still waiting here; it will not be sent. */
  forget(id: number): boolean {
    const at = this.#held?.findIndex((message) => message.kind === 'request' && message.id === id) ?? -1;
    if (at >= 0) this.#held?.splice(at, 1);
    return at >= 0;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}

export function isHandshake(message: Outgoing): boolean {
  return message.kind === 'notification' && message.method === 'notifications/initialized';
}
