import type { IncomingHttpHeaders } from 'node:http';

import type { Cancellation } from '../lib/cancellation.ts';
import type { RpcErrorBody } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { Message, RequestId } from './message.ts';
import type { Payload } from '../lib/payload.ts';

/** One request of a client, with the way back to it. The first answer counts, later ones are ignored. */
export interface IncomingRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
  /** Of the HTTP request that it is, in the modern era; they repeat parts of the body. */
  readonly headers?: IncomingHttpHeaders | undefined;
  /** Cancelled by the client's notification or by the client going away. */
  readonly cancellation: Cancellation;
  result(payload: Payload): void;
  error(error: RpcErrorBody): void;
  /** Travels with this request: on HTTP it is written to the request's own stream. */
  notify(method: string, params: JsonObject | undefined): void;
  /** Whether a question can reach the client while it waits for this answer. */
  readonly canAsk: boolean;
  /** A request of ours, on the same way as `notify`; its answer comes to `Connection.response`. */
  ask(id: RequestId, method: string, params: JsonObject | undefined): void;
}

/** What a transport hands to the side that answers. */
export interface Connection {
  request(request: IncomingRequest): void;
  notification(method: string, params: JsonObject | undefined): void;
  /** An answer of the client to a request of ours. */
  response?(message: Extract<Message, { kind: 'result' | 'error' }>): void;
  /** The client is gone: subscriptions end, requests in flight were cancelled by the transport. */
  close(): void;
}

/** The way to a client outside of any request; drops what nobody listens to. */
export interface ClientChannel {
  notify(method: string, params: JsonObject | undefined): void;
  /** A request of ours; absent where the client cannot be asked outside of its requests. */
  ask?(id: RequestId, method: string, params: JsonObject | undefined): void;
}
