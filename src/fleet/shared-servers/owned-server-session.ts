import { Cancellation } from '../../core/lib/cancellation.ts';
import { Payload } from '../../core/lib/payload.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ServerFacts } from '../../core/server-facts.ts';
import { subscriptionKeyOf } from '../../core/subscription-keys.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { withoutEnvelope } from '../../protocol/envelope.ts';
import type { RawMessage } from '../../protocol/stdio/line-reader.ts';
import {
  serializeError,
  serializeNotification,
  parseMessage,
  encodeResult,
} from '../../protocol/rpc-message.ts';
import type { RpcMessage } from '../../protocol/rpc-message.ts';
import type { Channel, ChannelEvents } from '../channel.ts';
import { serializeReplicaError } from '../replica-error.ts';
import { parseClientMetadata } from './message-metadata.ts';
import type { OwnerMetadata } from './message-metadata.ts';
import { OwnedServerSubscriptions } from './owned-server-subscriptions.ts';
import { RemoteClient } from './remote-client.ts';
import { RemoteClientRequests } from './remote-client-requests.ts';

type Request = RpcMessage & { readonly kind: 'request' };

interface OwnedServerSessionOptions {
  /** Unique among all sessions of this replica. */
  readonly id: string;
  readonly channel: Channel;
  /** The facts about the server that the other replica received when it opened the channel. */
  readonly facts: ServerFacts;
  /** Returns the server, or undefined if this replica no longer owns it or is stopping. */
  readonly upstream: () => Upstream | undefined;
  /** Called when a request starts. Returns a function to call when the request has finished. */
  readonly onRequestStart: () => () => void;
  readonly onClosed: () => void;
}

/**
 * Lets one other replica use a server that this replica owns. Forwards the requests of that replica to the server, and the requests and
 * notifications of the server to the clients of that replica.
 */
export class OwnedServerSession implements ChannelEvents {
  readonly facts: ServerFacts;
  readonly #options: OwnedServerSessionOptions;
  readonly #requests = new Map<
    number,
    { readonly cancellation: Cancellation; readonly client: RemoteClient | undefined }
  >();
  readonly #clientRequests = new RemoteClientRequests();
  readonly #subscriptions: OwnedServerSubscriptions;
  #isClosed = false;

  constructor(options: OwnedServerSessionOptions) {
    this.#options = options;
    this.facts = options.facts;
    this.#subscriptions = new OwnedServerSubscriptions(options.id);
  }

  onMessage(metadata: unknown, body: RawMessage): void {
    // `left` means that the client of this request has left while a question to it was open.
    if (isJsonObject(metadata) && typeof metadata['left'] === 'number') {
      this.#requests.get(metadata['left'])?.client?.onRequestEnd?.();
      return;
    }
    const message = parseMessage(body);
    switch (message.kind) {
      case 'request':
        void this.#handleRequest(message, metadata);
        return;
      case 'notification':
        if (message.method === 'notifications/cancelled') this.#cancelRequest(message.params);
        else this.#notifyServer(message.method, message.params);
        return;
      case 'result':
      case 'error':
        this.#clientRequests.handleResponse(message);
        return;
      default: // A replica sends no other kind of message.
    }
  }

  onClosed(error: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { cancellation } of this.#requests.values()) cancellation.cancel(error);
    this.#clientRequests.close(error);
    this.#subscriptions.clear(this.#options.upstream());
    this.#options.onClosed();
  }

  /** Ends the session; the other replica then looks for the new owner of the server. */
  close(reason: Error): void {
    this.#options.channel.close(reason);
    this.onClosed(reason);
  }

  notifyListChanged(): void {
    this.#notifyReplica({}, 'notifications/tools/list_changed', undefined);
  }

  /** Forwards the update of a resource or task if the other replica has subscribed to it. */
  notifyUpdate(params: JsonObject): void {
    if (!this.#subscriptions.has(subscriptionKeyOf(params))) return;
    const isTask = typeof params['uri'] !== 'string';
    this.#notifyReplica({}, isTask ? 'notifications/tasks' : 'notifications/resources/updated', params);
  }

  async #handleRequest(request: Request, metadata: unknown): Promise<void> {
    const { id } = request;
    if (typeof id !== 'number' || this.#isClosed) return;
    const upstream = this.#options.upstream();
    // The request has not reached the server, so the other replica can safely send it to the next owner.
    if (upstream === undefined) return this.#send({ unsent: id });
    const cancellation = new Cancellation();
    const client = this.#createClient(id, metadata);
    this.#requests.set(id, { cancellation, client });
    const onRequestEnd = this.#options.onRequestStart();
    try {
      const payload = await this.#forwardRequest(request, { upstream, cancellation, client });
      if (cancellation.reason === undefined) this.#send({ answers: id }, encodeResult(id, payload));
    } catch (error) {
      if (cancellation.reason !== undefined) return;
      // An RpcError is a response of the server; any other error is a failure of this gateway.
      if (error instanceof RpcError) this.#send({ answers: id }, serializeError(id, error.body));
      else this.#send({ failed: id }, JSON.stringify(serializeReplicaError(error)));
    } finally {
      this.#requests.delete(id);
      onRequestEnd();
    }
  }

  async #forwardRequest(
    { id, method, params = {} }: Request,
    {
      upstream,
      cancellation,
      client,
    }: {
      readonly upstream: Upstream;
      readonly cancellation: Cancellation;
      readonly client: RemoteClient | undefined;
    },
  ): Promise<Payload> {
    const subscriptionResponse = this.#subscriptions.handleRequest(
      { id: Number(id), method, params },
      { upstream, cancellation, requestingClient: client },
    );
    if (subscriptionResponse !== undefined) return Payload.of(await subscriptionResponse);
    const meta = params['_meta'];
    const progressToken = isJsonObject(meta) ? meta['progressToken'] : undefined;
    const onProgress = (progress: JsonObject): void =>
      this.#notifyReplica({ during: Number(id) }, 'notifications/progress', { ...progress, progressToken });
    return upstream.request(method, withoutEnvelope(params), {
      cancellation,
      requestingClient: client,
      onProgress: progressToken === undefined ? undefined : onProgress,
    });
  }

  /** Returns the client that waits for a request, or undefined if the other replica sends the request on its own behalf. */
  #createClient(id: number, metadata: unknown): RemoteClient | undefined {
    const clientMetadata = parseClientMetadata(metadata);
    if (clientMetadata === undefined) return undefined;
    return new RemoteClient(clientMetadata, {
      request: (method, params, cancellation) => {
        if (this.#isClosed) throw clientLostError();
        return this.#clientRequests.request({ method, params }, cancellation, (text) =>
          this.#send({ during: id }, text),
        );
      },
      notify: (method, params) => this.#notifyReplica({ during: id }, method, params),
    });
  }

  #cancelRequest(params: JsonObject | undefined): void {
    const id = params?.['requestId'];
    if (typeof id !== 'number') return;
    const reason =
      typeof params?.['reason'] === 'string' ? params['reason'] : 'The client cancelled the request.';
    this.#requests.get(id)?.cancellation.cancel(new GatewayError('CALL_CANCELLED', reason));
  }

  #notifyServer(method: string, params: JsonObject | undefined): void {
    const connecting = this.#options.upstream()?.getConnection(new Cancellation());
    // A notification has no response, so a failure cannot be reported to its sender.
    connecting?.then((connection) => connection.notify(method, params)).catch(() => {});
  }

  #notifyReplica(metadata: OwnerMetadata, method: string, params: JsonObject | undefined): void {
    this.#send(metadata, serializeNotification(method, params));
  }

  #send(metadata: OwnerMetadata, body?: Parameters<Channel['send']>[1]): void {
    if (!this.#isClosed) this.#options.channel.send(metadata, body);
  }
}

function clientLostError(): GatewayError {
  return new GatewayError(
    'REPLICA_AWAY',
    'The client cannot be asked, because the gateway that it was connected to is gone.',
  );
}
