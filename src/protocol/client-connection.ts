import type { IncomingHttpHeaders } from 'node:http';

import type { Cancellation } from '../core/lib/cancellation.ts';
import type { RpcErrorBody } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { RpcMessage, RequestId } from './rpc-message.ts';
import type { Payload } from '../core/lib/payload.ts';

/** Handles the messages of one client; a server transport calls it. */
export interface ClientConnection {
  handleRequest(request: IncomingRequest): void;
  handleNotification(method: string, params: JsonObject | undefined): void;
  /** Handles the response of the client to a request of the gateway. */
  handleResponse?(message: Extract<RpcMessage, { kind: 'result' | 'error' }>): void;
  /** Called when the client is gone; the transport has already cancelled the requests in flight. */
  close(): void;
}

/** One request of a client. The first response counts, later ones are ignored. */
export interface IncomingRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
  /** The headers of the HTTP request in the modern era; they repeat parts of the body. */
  readonly headers?: IncomingHttpHeaders | undefined;
  /** Cancelled when the client cancels the request or disconnects. */
  readonly cancellation: Cancellation;
  sendResult(payload: Payload): void;
  sendError(error: RpcErrorBody): void;
  /** Sends a notification that belongs to this request; over HTTP it goes to the response stream of the request. */
  notify(method: string, params: JsonObject | undefined): void;
  /** Whether `sendRequest` can reach the client while it waits for the response. */
  readonly canSendRequests: boolean;
  /** Sends a request to the client on the same stream as `notify`; the response arrives at `ClientConnection.handleResponse`. */
  sendRequest(id: RequestId, method: string, params: JsonObject | undefined): void;
}

/** Sends messages to a client outside of any request; they are dropped if the client does not listen. */
export interface ClientChannel {
  notify(method: string, params: JsonObject | undefined): void;
  /** Absent if the client accepts requests only while one of its own requests is open. */
  sendRequest?(id: RequestId, method: string, params: JsonObject | undefined): void;
}
