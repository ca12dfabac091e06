import type { Cancellation } from '../lib/cancellation.ts';
import type { ClientBehind, TimeLimit } from '../model/client-behind.ts';
import { RpcError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import { reaches } from '../model/log-level.ts';
import { RPC } from '../wire/era.ts';
import type { RequestId } from '../wire/message.ts';
import type { ClientChannel } from '../wire/serving.ts';
import type { AskedClient } from './asked-client.ts';

interface Outside {
  readonly session: string;
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  readonly asked: AskedClient;
}

/** A client of the older protocol as the one server that it faces can reach it outside of calls. */
export class OutsideClient implements ClientBehind {
  readonly isAlone = true;
  readonly isOnlyOne: boolean;
  limit: TimeLimit | undefined = undefined;
  readonly #client: Outside;
  readonly #channel: ClientChannel;

  constructor(client: Outside, channel: ClientChannel, isOnlyOne: boolean) {
    this.#client = client;
    this.#channel = channel;
    this.isOnlyOne = isOnlyOne;
  }

  get session(): string {
    return this.#client.session;
  }

  get capabilities(): JsonObject {
    return this.#client.capabilities;
  }

  get logLevel(): string | undefined {
    return this.#client.logLevel;
  }

  async ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject> {
    const channel = this.#channel;
    if (channel.ask === undefined)
      throw new RpcError({
        code: RPC.methodNotFound,
        message: 'The client cannot be asked outside of calls.',
      });
    const way = {
      canAsk: true,
      cancellation,
      notify: (told: string, about: JsonObject | undefined) => channel.notify(told, about),
      ask: (id: RequestId, asked: string, about: JsonObject | undefined) => channel.ask?.(id, asked, about),
    };
    const { capabilities } = this;
    return this.#client.asked.ask(way, { method, params }, { capabilities, cancellation, isAlone: true });
  }

  /** Who has not said how much to hear gets what a server says of its own accord. */
  log(message: JsonObject): void {
    if (this.logLevel === undefined || reaches(message['level'], this.logLevel))
      this.tell('notifications/message', message);
  }

  tell(method: string, params: JsonObject | undefined): void {
    this.#channel.notify(method, params);
  }
}
