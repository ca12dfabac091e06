import type { Cancellation } from '../lib/cancellation.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import type { JsonObject } from '../model/json.ts';
import { reaches } from '../model/log-level.ts';

/** The way to the client while it waits for an answer. */
export interface Asker {
  ask(
    method: string,
    params: JsonObject | undefined,
    about: {
      readonly capabilities: JsonObject;
      readonly cancellation: Cancellation;
      /** To be called when the request ends with the question instead of waiting for the answer. */
      readonly left: () => void;
    },
  ): Promise<JsonObject>;
  notify(method: string, params: JsonObject): void;
}

/** One of these is made for every call, so it is one object without closures. */
export class ClientBehindRequest implements ClientBehind {
  readonly session: string;
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  onAsking: ((isOpen: boolean) => void) | undefined = undefined;
  onLeft: (() => void) | undefined = undefined;
  readonly #asker: Asker;

  constructor(
    session: string,
    client: { readonly capabilities: JsonObject; readonly logLevel: string | undefined },
    asker: Asker,
  ) {
    this.session = session;
    this.capabilities = client.capabilities;
    this.logLevel = client.logLevel;
    this.#asker = asker;
  }

  async ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject> {
    this.onAsking?.(true);
    try {
      const left = (): void => this.onLeft?.();
      return await this.#asker.ask(method, params, { capabilities: this.capabilities, cancellation, left });
    } finally {
      this.onAsking?.(false);
    }
  }

  log(message: JsonObject): void {
    if (reaches(message['level'], this.logLevel)) this.#asker.notify('notifications/message', message);
  }
}
