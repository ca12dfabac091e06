import type { Cancellation } from '../lib/cancellation.ts';
import type { ClientBehind, TimeLimit } from '../model/client-behind.ts';
import type { JsonObject } from '../model/json.ts';
import type { ClientChannel } from '../wire/serving.ts';
import { reaches } from '../model/log-level.ts';

/** The way to the client while it waits for an answer. */
export interface Asker {
  ask(
    method: string,
    params: JsonObject | undefined,
    about: {
      readonly capabilities: JsonObject;
      readonly cancellation: Cancellation;
      /** Whether methods that we do not know may be asked as well. */
      readonly isAlone?: boolean | undefined;
      /** To be called when the request ends with the question instead of waiting for the answer. */
      readonly left: () => void;
    },
  ): Promise<JsonObject>;
  notify(method: string, params: JsonObject | undefined): void;
}

/** What all calls of a client have in common. */
export interface ClientPlace {
  /** It faces one server alone. */
  readonly isAlone: boolean;
  /** It has that server to itself. */
  readonly isOnlyOne: boolean;
  /** The way to it outside of calls, for clients that stay. */
  readonly channel?: ClientChannel | undefined;
}

/** One of these is made for every call, so it is one object without closures. */
export class ClientBehindRequest implements ClientBehind {
  readonly session: string;
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  limit: TimeLimit | undefined = undefined;
  onLeft: (() => void) | undefined = undefined;
  /** The request was answered; what comes afterwards goes outside of it. */
  isOver = false;
  readonly #asker: Asker;
  readonly #place: ClientPlace;

  constructor(
    session: string,
    client: { readonly capabilities: JsonObject; readonly logLevel: string | undefined },
    asker: Asker,
    place: ClientPlace,
  ) {
    this.session = session;
    this.capabilities = client.capabilities;
    this.logLevel = client.logLevel;
    this.#asker = asker;
    this.#place = place;
  }

  get isAlone(): boolean {
    return this.#place.isAlone;
  }

  get isOnlyOne(): boolean {
    return this.#place.isOnlyOne && this.#place.channel !== undefined;
  }

  async ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject> {
    this.limit?.asking(true);
    try {
      const left = (): void => this.onLeft?.();
      const { capabilities, isAlone } = this;
      return await this.#asker.ask(method, params, { capabilities, cancellation, isAlone, left });
    } finally {
      this.limit?.asking(false);
    }
  }

  /** Of a server alone, an older client that has not said how much to hear gets what it says of its own accord. */
  log(message: JsonObject): void {
    const { isAlone, channel } = this.#place;
    const hearsAll = this.logLevel === undefined && isAlone && channel !== undefined;
    if (hearsAll || reaches(message['level'], this.logLevel)) this.tell('notifications/message', message);
  }

  tell(method: string, params: JsonObject | undefined): void {
    if (this.isOver) this.#place.channel?.notify(method, params);
    else this.#asker.notify(method, params);
  }
}
