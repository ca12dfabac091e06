import type { Cancellation } from '../../lib/cancellation.ts';
import type { ClientBehind, TimeLimit } from '../../model/client-behind.ts';
import type { JsonObject } from '../../model/json.ts';
import type { AboutGuest } from './about.ts';

interface Way {
  ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject>;
  tell(method: string, params: JsonObject | undefined): void;
}

/** A client of another gateway behind a request that this one sends to a server for it. */
export class GuestClient implements ClientBehind {
  readonly session: string;
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  readonly isAlone: boolean;
  /** Deadlines are those of the other gateway, which knows by itself that a question is open. */
  limit: TimeLimit | undefined = undefined;
  onLeft: (() => void) | undefined = undefined;
  readonly #way: Way;

  constructor({ session, capabilities, logLevel, isAlone }: AboutGuest, way: Way) {
    this.session = session;
    this.capabilities = capabilities;
    this.logLevel = logLevel;
    this.isAlone = isAlone === true;
    this.#way = way;
  }

  ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject> {
    return this.#way.ask(method, params, cancellation);
  }

  log(params: JsonObject): void {
    this.#way.tell('notifications/message', params);
  }

  tell(method: string, params: JsonObject | undefined): void {
    this.#way.tell(method, params);
  }
}
