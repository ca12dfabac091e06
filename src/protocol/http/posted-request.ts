import type { IncomingHttpHeaders } from 'node:http';

import { Cancellation } from '../../core/lib/cancellation.ts';
import { NOT_IN_SET } from '../../core/lib/swap-remove-set.ts';
import type { SetMember } from '../../core/lib/swap-remove-set.ts';
import type { Payload } from '../../core/lib/payload.ts';
import type { GatewayError, RpcErrorBody } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { serializeError, serializeNotification, serializeRequest, encodeResult } from '../rpc-message.ts';
import type { RpcMessage, RequestId, EncodedMessage } from '../rpc-message.ts';
import type { IncomingRequest } from '../client-connection.ts';

/** Writes the messages that belong to one request. */
export interface ResponseWriter {
  /** Whether the client accepts messages besides the response. */
  readonly canNotify: boolean;
  sendMessage(text: string): void;
  respond(message: EncodedMessage, status: number): void;
  /** Ends a request that the client has cancelled; the protocol requires no response. */
  endCancelled(id: RequestId): void;
}

export interface PostedRequestOwner {
  readonly headers?: IncomingHttpHeaders;
  /** Returns the HTTP status for an error. */
  statusFor(error: RpcErrorBody): number;
  /** Called once, before the response is written; `result` is set if the request succeeded. */
  onSettled(request: PostedRequest, result: Payload | undefined): void;
  /** Called when a listener of the cancellation throws. */
  onError(error: unknown): void;
}

/** A request that came in a POST. Only the first response is sent. */
export class PostedRequest implements IncomingRequest, SetMember {
  index = NOT_IN_SET;
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly cancellation = new Cancellation();
  readonly #writer: ResponseWriter;
  readonly #owner: PostedRequestOwner;
  #isSettled = false;

  constructor(
    message: Extract<RpcMessage, { kind: 'request' }>,
    writer: ResponseWriter,
    owner: PostedRequestOwner,
  ) {
    this.id = message.id;
    this.method = message.method;
    this.params = message.params;
    this.#writer = writer;
    this.#owner = owner;
  }

  sendResult(payload: Payload): void {
    if (this.#isSettled) return;
    const encoded = encodeResult(this.id, payload); // Runs before `#settle`, because it may throw and an error must then be sent.
    this.#settle(payload);
    this.#writer.respond(encoded, 200);
  }

  sendError(error: RpcErrorBody): void {
    if (this.#isSettled) return;
    const text = serializeError(this.id, error);
    this.#settle(undefined);
    this.#writer.respond(text, this.#owner.statusFor(error));
  }

  notify(method: string, params: JsonObject | undefined): void {
    if (!this.#isSettled) this.#writer.sendMessage(serializeNotification(method, params));
  }

  get headers(): IncomingHttpHeaders | undefined {
    return this.#owner.headers;
  }

  get canSendRequests(): boolean {
    return this.#writer.canNotify;
  }

  sendRequest(id: RequestId, method: string, params: JsonObject | undefined): void {
    if (!this.#isSettled) this.#writer.sendMessage(serializeRequest(id, method, params));
  }

  /** Ends the request because the client cancelled it. */
  cancelByClient(reason: GatewayError): void {
    if (this.#isSettled) return;
    this.#settle(undefined);
    this.#cancel(reason);
    this.#writer.endCancelled(this.id);
  }

  /** Ends the request because the client cannot be reached any more. */
  abandon(reason: GatewayError): void {
    if (this.#isSettled) return;
    this.#settle(undefined);
    this.#cancel(reason);
  }

  /** Ends the request with an error, unless the cancellation makes its handler send a better one first. */
  end(reason: GatewayError): void {
    if (this.#isSettled) return;
    this.#cancel(reason);
    this.sendError({ code: reason.traits.rpc, message: reason.message });
  }

  #settle(result: Payload | undefined): void {
    this.#isSettled = true;
    this.#owner.onSettled(this, result);
  }

  #cancel(reason: GatewayError): void {
    try {
      this.cancellation.cancel(reason);
    } catch (error) {
      this.#owner.onError(error);
    }
  }
}
