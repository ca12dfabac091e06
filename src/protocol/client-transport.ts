import type { RequestingClient } from '../core/requesting-client.ts';
import { GatewayError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Era } from '../core/server-facts.ts';
import type { RawMessage } from './stdio/line-reader.ts';

/** Exchanges messages with one server: over pipes, streamable HTTP, HTTP+SSE or another gateway. */
export interface ClientTransport {
  send(message: OutgoingMessage): void;
  /** Gives up a request; returns false if the server must be told with `notifications/cancelled`. */
  abandon(id: number): boolean;
  /** Called once after the negotiation. Over HTTP, the version becomes a header, and a legacy transport opens its listening stream. */
  setProtocol(era: Era, protocol: string): void;
  close(): Promise<void>;
}

export type OpenTransport = (events: TransportEvents) => Promise<ClientTransport>;

/** One message to a server: its serialized text, and the parts of it that transports need. */
export type OutgoingMessage =
  | {
      readonly kind: 'request';
      readonly id: number;
      readonly method: string;
      readonly params: JsonObject | undefined;
      readonly text: string;
      /** Additional headers of a modern request over HTTP, such as `Mcp-Param-*`; the transport encodes their values. */
      readonly headers?: Readonly<Record<string, string>> | undefined;
      /** The client that waits for the response; a transport to several servers uses it for routing. */
      readonly requestingClient?: RequestingClient | undefined;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly text: string }
  | { readonly kind: 'response'; readonly text: string };

export interface TransportEvents {
  /** Receives one JSON text. If it arrived on the stream of a request, `request` is the id of that request. */
  onMessage(text: RawMessage, request?: number): void;
  /** Called when a request can no longer get a response although the transport still works. */
  onRequestFailed(id: number, error: Error): void;
  /** Called once, when the transport can neither send nor receive any more. */
  onClosed(error: Error): void;
  /** Called with a failure that no request waits for, such as that of a notification, so that it can be logged. */
  onWarning?(error: Error): void;
}

/** The request never reached the server, so it can be sent over another connection. */
export class UnsentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnsentError';
  }
}

/** The server sent a successful HTTP response that is not a JSON-RPC message, so it probably is not an MCP server. */
export class UnexpectedResponseError extends GatewayError {
  /** The status and type of the response: `HTTP 200 with text/html`. */
  readonly received: string;
  /** Whether the response is a page for people, such as the sign-in page of a captive portal. */
  readonly isWebPage: boolean;

  constructor(received: string) {
    super('UPSTREAM_PROTOCOL', `The server answered ${received}, which is not a JSON-RPC message.`);
    this.name = 'UnexpectedResponseError';
    this.received = received;
    this.isWebPage = /\bx?html\b/.test(received);
  }
}

/** The server answered with an HTTP error status. */
export class HttpStatusError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Whether the server no longer knows the session. If so, it has not executed the request either. */
  readonly isSessionLost: boolean;

  constructor(status: number, headers: HttpStatusError['headers'], body: string, isSessionLost = false) {
    super(`HTTP ${status}`);
    this.name = 'HttpStatusError';
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.isSessionLost = isSessionLost;
  }
}
