import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Channel, ChannelEvents, ChannelHandler } from '../channel.ts';
import { parseReplicaError, serializeReplicaError } from '../replica-error.ts';
import { parseFrameBody, ReplicaProtocolError } from './frame.ts';
import type { Frame } from './frame.ts';
import type { ReplicaConnection } from './replica-connection.ts';

/** Handles the requests and channels of other replicas. */
export interface IncomingHandlers {
  handleRequest(subject: string, body: JsonObject, context: ReplicaRequestContext): Promise<JsonObject>;
  readonly acceptChannel: ChannelHandler;
}

export interface ReplicaRequestContext {
  /** The id of the replica that sent the request. */
  readonly from: string;
  /** Aborted when that replica cancels the request or disconnects. */
  readonly signal: AbortSignal;
}

interface IncomingChannel {
  /** Set once the channel is accepted. */
  events: ChannelEvents | undefined;
  readonly abort: AbortController;
}

/**
 * Slightly more than the limit of the other end, see `OutgoingRequests`: the other end no longer counts a request that it has cancelled,
 * but this end counts it until its handler has finished.
 */
const MAX_PENDING = 1100;

/** Handles the requests that the other replica sends, and the channels that it opens, on one connection. */
export class IncomingRequests {
  readonly #connection: ReplicaConnection;
  readonly #from: string;
  readonly #handlers: IncomingHandlers;
  readonly #pending = new Map<number, AbortController>();
  readonly #channels = new Map<number, IncomingChannel>();

  constructor(connection: ReplicaConnection, from: string, handlers: IncomingHandlers) {
    this.#connection = connection;
    this.#from = from;
    this.#handlers = handlers;
  }

  /** Handles one frame. `argument` is the subject of a request, or the metadata of a channel message. */
  handleFrame(frame: Frame): void {
    const [kind, id, argument] = frame.head;
    if (typeof id !== 'number') return;
    if (this.#pending.size > MAX_PENDING || this.#channels.size > MAX_PENDING)
      return this.#connection.close(
        new ReplicaProtocolError('The other gateway sent too many requests at once.'),
      );
    const isReused = (kind === 'ask' && this.#pending.has(id)) || (kind === 'open' && this.#channels.has(id));
    if (isReused)
      return this.#connection.close(
        new ReplicaProtocolError('The other gateway used the id of an open request again.'),
      );
    if (kind === 'ask') void this.#respond(id, argument, parseFrameBody(frame));
    else if (kind === 'cancel') this.#pending.get(id)?.abort(cancelledError());
    else if (kind === 'open') void this.#accept(id, parseFrameBody(frame));
    else if (kind === 'say') this.#channels.get(id)?.events?.onMessage(argument, frame.body);
    else if (kind === 'close')
      this.#endChannel(
        id,
        parseReplicaError(parseFrameBody(frame) ?? serializeReplicaError(cancelledError())),
      );
  }

  /** Aborts all pending requests and closes all channels, because the connection is gone. */
  handleDisconnect(cause: Error): void {
    const text = `The connection to gateway ${this.#from} was lost.`;
    const error = new GatewayError('REPLICA_AWAY', text, { cause });
    for (const pending of this.#pending.values()) pending.abort(error);
    this.#pending.clear();
    for (const id of [...this.#channels.keys()]) this.#endChannel(id, error);
  }

  async #respond(id: number, subject: unknown, body: unknown): Promise<void> {
    const abort = new AbortController();
    this.#pending.set(id, abort);
    try {
      if (typeof subject !== 'string' || !isJsonObject(body)) throw parseReplicaError(undefined);
      const context = { from: this.#from, signal: abort.signal };
      const response = await this.#handlers.handleRequest(subject, body, context);
      this.#connection.send(['answer', id], JSON.stringify(response));
    } catch (error) {
      this.#connection.send(['problem', id], JSON.stringify(serializeReplicaError(error)));
    } finally {
      this.#pending.delete(id);
    }
  }

  async #accept(id: number, request: unknown): Promise<void> {
    const abort = new AbortController();
    // Stored before the handler decides, so that the other end can close the channel while it waits for the decision.
    const entry: IncomingChannel = { events: undefined, abort };
    this.#channels.set(id, entry);
    // Compares the entry, because the other end may reuse the id once the channel is closed.
    const isOpen = (): boolean => this.#channels.get(id) === entry;
    const channel: Channel = {
      send: (metadata, body) => {
        if (isOpen()) this.#connection.send(['say', id, metadata], body);
      },
      close: (reason) => {
        if (!isOpen()) return;
        this.#channels.delete(id);
        const error = serializeReplicaError(reason ?? cancelledError());
        this.#connection.send(['close', id], JSON.stringify(error));
      },
    };
    try {
      if (!isJsonObject(request)) throw parseReplicaError(undefined);
      const context = { channel, from: this.#from, signal: abort.signal };
      const { accepted, events } = await this.#handlers.acceptChannel(request, context);
      entry.events = events;
      if (isOpen()) this.#connection.send(['opened', id], JSON.stringify(accepted));
      else events.onClosed(cancelledError());
    } catch (error) {
      channel.close(error instanceof Error ? error : parseReplicaError(undefined));
    }
  }

  #endChannel(id: number, error: Error): void {
    const entry = this.#channels.get(id);
    if (!this.#channels.delete(id)) return;
    entry?.abort.abort(error);
    entry?.events?.onClosed(error);
  }
}

function cancelledError(): GatewayError {
  return new GatewayError('CALL_CANCELLED', 'The other gateway cancelled the request.');
}
