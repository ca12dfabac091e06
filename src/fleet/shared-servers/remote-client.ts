import type { Cancellation } from '../../core/lib/cancellation.ts';
import type { RequestingClient, CallDeadline } from '../../core/requesting-client.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ClientMetadata } from './message-metadata.ts';

/** Sends messages to the client through the replica that it is connected to. */
interface ClientConnection {
  request(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject>;
  notify(method: string, params: JsonObject | undefined): void;
}

/** A client that is connected to another replica and whose request this replica forwards to a server. */
export class RemoteClient implements RequestingClient {
  readonly session: string;
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  readonly hasSingleServer: boolean;
  /** Always undefined here, because the other replica applies the deadline of the call. */
  deadline: CallDeadline | undefined = undefined;
  onRequestEnd: (() => void) | undefined = undefined;
  readonly #connection: ClientConnection;

  constructor(
    { session, capabilities, logLevel, hasSingleServer }: ClientMetadata,
    connection: ClientConnection,
  ) {
    this.session = session;
    this.capabilities = capabilities;
    this.logLevel = logLevel;
    this.hasSingleServer = hasSingleServer === true;
    this.#connection = connection;
  }

  ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject> {
    return this.#connection.request(method, params, cancellation);
  }

  log(params: JsonObject): void {
    this.#connection.notify('notifications/message', params);
  }

  sendNotification(method: string, params: JsonObject | undefined): void {
    this.#connection.notify(method, params);
  }
}
