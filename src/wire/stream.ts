import type { ClientBehind } from '../model/client-behind.ts';
import { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import type { Line } from './stdio/frame-lines.ts';

/** One message on its way to a server; the transport may need more of it than its text. */
export type Outgoing =
  | {
      readonly kind: 'request';
      readonly id: number;
      readonly method: string;
      readonly params: JsonObject | undefined;
      readonly text: string;
      /** Further headers of a modern request over HTTP, such as `Mcp-Param-*`; their values are encoded on the way. */
      readonly headers?: Readonly<Record<string, string>>;
      /** Who waits for it, for a stream that leads to more than one server. */
      readonly behind?: ClientBehind | undefined;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly text: string }
  | { readonly kind: 'answer'; readonly text: string };

export interface StreamEvents {
  /** One whole JSON text that the server sent, with the request whose own stream brought it, where there is one. */
  message(text: Line, request?: number): void;
  /** This request can have no answer any more, the stream itself lives on. */
  failed(id: number, error: Error): void;
  /** Called once; nothing can be sent or received any more. */
  closed(error: Error): void;
  /** Something went wrong that no request waits for, such as a refused notification; for the log. */
  trouble?(error: Error): void;
}

/** Messages to and from one server, over whatever carries them. */
export interface MessageStream {
  send(message: Outgoing): void;
  /** Gives up the exchange of this request; false where only a `notifications/cancelled` can tell the server. */
  abandon(id: number): boolean;
  /** Called once the era and version are agreed; HTTP puts them in headers and opens its listening stream. */
  negotiated(era: Era, protocol: string): void;
  close(): Promise<void>;
}

/** A request that never reached the server, so that it can be sent on another connection. */
export class UnsentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnsentError';
  }
}

/** An HTTP exchange that ended well, but not with a message: what answers is something else. */
export class ForeignAnswerError extends GatewayError {
  /** `HTTP 200 with text/html`. */
  readonly answered: string;

  constructor(answered: string) {
    super('UPSTREAM_PROTOCOL', `The server answered ${answered}, not with a message.`);
    this.name = 'ForeignAnswerError';
    this.answered = answered;
  }
}

/** An HTTP exchange that did not end in a message. */
export class HttpStatusError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The server no longer knows our session, so it has not executed the request either. */
  readonly sessionLost: boolean;

  constructor(status: number, headers: HttpStatusError['headers'], body: string, sessionLost = false) {
    super(`HTTP ${status}`);
    this.name = 'HttpStatusError';
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.sessionLost = sessionLost;
  }
}
