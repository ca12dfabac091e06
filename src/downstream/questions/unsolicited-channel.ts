import type { Cancellation } from '../../core/lib/cancellation.ts';
import type { RequestingClient, CallDeadline } from '../../core/requesting-client.ts';
import { RpcError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { isLevelEnabled } from '../../core/log-level.ts';
import { RPC_ERROR_CODES } from '../../protocol/era.ts';
import type { RequestId } from '../../protocol/rpc-message.ts';
import type { ClientChannel } from '../../protocol/client-connection.ts';
import type { ClientQuestions } from './client-questions.ts';

/** The session of the client; its capabilities and log level can change after the channel was created. */
interface LegacySession {
  readonly id: string;
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  readonly questions: ClientQuestions;
}

/** Lets a single server contact its legacy client outside of calls. */
export class UnsolicitedChannel implements RequestingClient {
  readonly hasSingleServer = true;
  readonly isOnlyClient: boolean;
  deadline: CallDeadline | undefined = undefined;
  readonly #session: LegacySession;
  readonly #channel: ClientChannel;

  constructor(session: LegacySession, channel: ClientChannel, hasSingleClient: boolean) {
    this.#session = session;
    this.#channel = channel;
    this.isOnlyClient = hasSingleClient;
  }

  get session(): string {
    return this.#session.id;
  }

  get capabilities(): JsonObject {
    return this.#session.capabilities;
  }

  get logLevel(): string | undefined {
    return this.#session.logLevel;
  }

  async ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject> {
    const channel = this.#channel;
    if (channel.sendRequest === undefined)
      throw new RpcError({
        code: RPC_ERROR_CODES.methodNotFound,
        message: `The client cannot be asked ${method} while it has no request open.`,
      });
    const request = {
      canSendRequests: true,
      cancellation,
      notify: (name: string, body: JsonObject | undefined) => channel.notify(name, body),
      sendRequest: (id: RequestId, name: string, body: JsonObject | undefined) =>
        channel.sendRequest?.(id, name, body),
    };
    const { capabilities } = this;
    const options = { capabilities, cancellation, isSingleServer: true };
    return this.#session.questions.ask(request, { method, params }, options);
  }

  /** Sends a log message if the client's level allows it. A client that has set no level receives every message. */
  log(message: JsonObject): void {
    if (this.logLevel === undefined || isLevelEnabled(message['level'], this.logLevel))
      this.sendNotification('notifications/message', message);
  }

  sendNotification(method: string, params: JsonObject | undefined): void {
    this.#channel.notify(method, params);
  }
}
