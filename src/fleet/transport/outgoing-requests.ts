import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Channel, ChannelEvents } from '../channel.ts';
import { parseReplicaError, serializeReplicaError } from '../replica-error.ts';
import { parseFrameBody } from './frame.ts';
import type { Frame } from './frame.ts';
import type { ReplicaConnection } from './replica-connection.ts';

interface PendingResponse {
  readonly resolve: (body: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

interface OutgoingChannel {
  readonly events: ChannelEvents;
  /** Set until the other end has accepted the channel. */
  pending: PendingResponse | undefined;
}

/** The maximum number of pending requests, and of open channels, on one connection. */
const MAX_PENDING = 1000;

/** Tracks the requests that this replica sends, and the channels that it opens, on one connection. */
export class OutgoingRequests {
  readonly #connection: ReplicaConnection;
  /** The id of the other replica, for error messages. */
  readonly #replica: string;
  readonly #pending = new Map<number, PendingResponse>();
  readonly #channels = new Map<number, OutgoingChannel>();
  #nextId = 1;

  constructor(connection: ReplicaConnection, replica: string) {
    this.#connection = connection;
    this.#replica = replica;
  }

  /** Sends a request and resolves with its response. Aborting the signal cancels the request at both ends. */
  send(subject: string, body: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject> {
    if (this.#pending.size >= MAX_PENDING) throw this.#busyError();
    signal?.throwIfAborted();
    const id = this.#nextId++;
    const text = JSON.stringify(body);
    return new Promise<JsonObject>((resolve, reject) => {
      const onAbort = (): void => {
        if (!this.#pending.delete(id)) return;
        this.#connection.send(['cancel', id]);
        reject(signal?.reason as Error); // An aborted signal always has a reason; callers pass an Error.
      };
      const removeListener = (): void => signal?.removeEventListener('abort', onAbort);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#pending.set(id, {
        resolve: (response) => {
          removeListener();
          resolve(response);
        },
        reject: (error) => {
          removeListener();
          reject(error);
        },
      });
      this.#connection.send(['ask', id, subject], text);
    });
  }

  /** Resolves when the other end accepts the channel; `accepted` is its response. */
  async openChannel(
    request: JsonObject,
    events: ChannelEvents,
  ): Promise<{ readonly channel: Channel; readonly accepted: JsonObject }> {
    if (this.#channels.size >= MAX_PENDING) throw this.#busyError();
    const id = this.#nextId++;
    const channel: Channel = {
      send: (metadata, body) => {
        if (this.#channels.has(id)) this.#connection.send(['say', id, metadata], body);
      },
      close: (reason) => {
        const entry = this.#channels.get(id);
        if (!this.#channels.delete(id)) return;
        this.#connection.send(['close', id], reason && JSON.stringify(serializeReplicaError(reason)));
        entry?.pending?.reject(reason ?? new Error('The channel was closed.'));
      },
    };
    const accepted = await new Promise<JsonObject>((resolve, reject) => {
      this.#channels.set(id, { events, pending: { resolve, reject } });
      this.#connection.send(['open', id], JSON.stringify(request));
    });
    return { channel, accepted };
  }

  /** Handles a response or a message of a channel. Frames for requests and channels that have ended are ignored. */
  handleFrame(frame: Frame): void {
    const { head, body } = frame;
    const [kind, id] = head;
    if (typeof id !== 'number') return;
    if (kind === 'answer' || kind === 'problem') {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      settle(pending, kind === 'answer', parseFrameBody(frame));
      return;
    }
    const channel = this.#channels.get(id);
    if (channel === undefined) return;
    if (kind === 'say') channel.events.onMessage(head[2], body);
    else if (kind === 'opened') {
      const { pending } = channel;
      channel.pending = undefined;
      settle(pending, true, parseFrameBody(frame));
    } else if (kind === 'close') {
      this.#channels.delete(id);
      const error = parseReplicaError(parseFrameBody(frame));
      if (channel.pending === undefined) channel.events.onClosed(error);
      else channel.pending.reject(error);
    }
  }

  /** Fails all pending requests and closes all channels, because the connection is gone. */
  handleDisconnect(cause: Error): void {
    const error = this.#disconnectError(cause);
    for (const { reject } of this.#pending.values()) reject(error);
    for (const { events, pending } of this.#channels.values()) {
      if (pending === undefined) events.onClosed(error);
      else pending.reject(error);
    }
    this.#pending.clear();
    this.#channels.clear();
  }

  #disconnectError(cause: Error): GatewayError {
    const text = `The connection to gateway ${this.#replica} was lost during the request; the request may or may not have been executed, so it was not repeated.`;
    return new GatewayError('REPLICA_AWAY', text, { cause, details: { replica: this.#replica } });
  }

  #busyError(): GatewayError {
    const text = `${MAX_PENDING} requests to gateway ${this.#replica} are already pending. Try again later.`;
    return new GatewayError('UPSTREAM_BUSY', text, { details: { replica: this.#replica } });
  }
}

/** Settles a pending response. A successful response without a JSON object is treated as an error without a reason. */
function settle(pending: PendingResponse | undefined, isSuccess: boolean, body: unknown): void {
  if (!isSuccess) pending?.reject(parseReplicaError(body));
  else if (isJsonObject(body)) pending?.resolve(body);
  else pending?.reject(parseReplicaError(undefined));
}
