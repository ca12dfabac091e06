import type { Logger } from '../../observe/log.ts';
import type { Connection } from '../connection.ts';

/** Processes that wait for a client with an answer, beside the one that serves. */
const MAX_APART = 4;

/** Connections that no longer serve new calls, until they have ended. */
export class Endings {
  readonly #ending = new Map<Connection, Promise<void>>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  end(connection: Connection, when: 'now' | 'when-quiet'): void {
    const ending = (when === 'now' ? connection[Symbol.asyncDispose]() : connection.retire())
      .catch((error: unknown) => this.#log.warn('Cannot close a connection.', { reason: String(error) }))
      .finally(() => this.#ending.delete(connection));
    this.#ending.set(connection, ending);
  }

  /** Ends at once all but the newest few. */
  keepNewest(newest = MAX_APART): void {
    const all = [...this.#ending.keys()];
    for (const connection of all.slice(0, Math.max(0, all.length - newest)))
      void connection[Symbol.asyncDispose]();
  }

  async endAll(): Promise<void> {
    this.keepNewest(0);
    await Promise.all(this.#ending.values());
  }
}
