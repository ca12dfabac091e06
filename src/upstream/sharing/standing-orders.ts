import { Cancellation } from '../../lib/cancellation.ts';
import { moreVerbose } from '../../model/log-level.ts';
import type { Logger } from '../../observe/log.ts';
import type { Connection } from '../connection.ts';

/** What every connection of an upstream is to do, the next one as well. */
export class StandingOrders {
  readonly #wanted = new Map<string, ReadonlySet<string>>();
  /** Resources whose updates somebody waits for. */
  #subscribed: ReadonlySet<string> = new Set();
  #logLevel: string | undefined;

  get subscribed(): ReadonlySet<string> {
    return this.#subscribed;
  }

  /** Each of those who want something says all that it wants. */
  subscribe(by: string, uris: ReadonlySet<string>): void {
    if (uris.size === 0) this.#wanted.delete(by);
    else this.#wanted.set(by, uris);
    this.#subscribed = new Set([...this.#wanted.values()].flatMap((wanted) => [...wanted]));
  }

  /** Older servers are told once how much to say; who gets what of it is decided for each message. */
  wantLogs(level: string, connection: Connection | undefined): void {
    const wanted = moreVerbose(level, this.#logLevel);
    if (wanted === this.#logLevel) return;
    this.#logLevel = wanted;
    connection?.setLogLevel(wanted);
  }

  /** Best effort: a server that no longer takes a subscription must not make the connection useless. */
  giveTo(connection: Connection, log: Logger): void {
    if (this.#logLevel !== undefined) connection.setLogLevel(this.#logLevel);
    if (this.subscribed.size === 0 && connection.opened.facts.era === 'legacy') return;
    connection.subscribe(this.subscribed, { cancellation: new Cancellation() }).catch((error: unknown) => {
      log.warn('Cannot subscribe to resources again.', { reason: String(error) });
    });
  }
}
