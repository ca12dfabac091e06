import type { Cancellation } from './lib/cancellation.ts';
import type { JsonObject } from './json.ts';

/** The deadline of a call. It is an object instead of a function to avoid a closure per call. */
export interface CallDeadline {
  /**
   * Called when a question to the client opens or closes. The deadline pauses while the question is open, because a person may take long to
   * answer.
   */
  setQuestionOpen(isOpen: boolean): void;
}

/** The client that sent a request. A server can send it requests and notifications while it works on that request. */
export interface RequestingClient {
  /** Requests with the same session come from the same client. */
  readonly session: string;
  /** The client's declared capabilities, as servers may see them. */
  readonly capabilities: JsonObject;
  /** Minimum level of log messages; undefined if the client wants none. */
  readonly logLevel: string | undefined;
  /** Whether the client is connected to this server only, so that unknown requests and notifications of the server pass through. */
  readonly hasSingleServer?: boolean | undefined;
  /** Whether the client sees several servers as one, so that a question must name the server that asks. */
  readonly isAggregated?: boolean;
  /** Whether no other client uses the server, so messages that belong to no call are for this client. */
  readonly isOnlyClient?: boolean;
  /** The deadline of the request. */
  deadline: CallDeadline | undefined;
  /** Called when the request ends while a question is open. The client may answer the question in another request, or never. */
  onRequestEnd?: (() => void) | undefined;
  /** Sends a request of the server to the client. Rejects with an RpcError if the client cannot or will not answer. */
  ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject>;
  /** Sends a log message with these `params`. */
  log(params: JsonObject): void;
  /**
   * Sends a notification on the stream of the request or, once the request has finished, on that of the session. Without a stream it is
   * dropped.
   */
  sendNotification?(method: string, params: JsonObject | undefined): void;
}
