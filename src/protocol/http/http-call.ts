import type { IncomingMessage } from 'node:http';

import { NOT_IN_SET } from '../../core/lib/swap-remove-set.ts';
import type { SetMember } from '../../core/lib/swap-remove-set.ts';
import { GatewayError } from '../../core/errors.ts';
import type { SseEvent } from './sse-reader.ts';
import { findResponseText, isSessionLostResponse, parseHttpResponse } from './parse-http-response.ts';
import type { HttpClientRequest, HttpResponseHandler } from './http-client-request.ts';
import { reconnectDelayMs } from './reconnect-delay.ts';
import { HttpStatusError } from '../client-transport.ts';
import type { OutgoingMessage, TransportEvents } from '../client-transport.ts';

type OutgoingRequest = Extract<OutgoingMessage, { kind: 'request' }>;

/** The transport that a call belongs to. */
export interface HttpCallOwner {
  readonly events: TransportEvents;
  readonly random: () => number;
  post(message: OutgoingMessage, handler: HttpResponseHandler): HttpClientRequest;
  /** Requests the rest of a stream that broke after this event. */
  resume(lastEventId: string, handler: HttpResponseHandler): HttpClientRequest;
  /** Called with the response to `initialize`, whose headers may contain a session id. */
  onInitialized(response: IncomingMessage): void;
  onFinished(call: HttpCall): void;
  onSessionLost(error: HttpStatusError): void;
}

/** The maximum number of consecutive attempts to resume a stream without receiving an event. */
const MAX_RESUMES = 5;
/** Maximum time that a stream stays open after its response or after the request was cancelled. */
const LINGER_MS = 5000;

/** One JSON-RPC request until its response: the POST, and the GET requests that resume its stream if the server supports that. */
export class HttpCall implements HttpResponseHandler, SetMember {
  index = NOT_IN_SET;
  readonly id: number;
  readonly #owner: HttpCallOwner;
  readonly #message: OutgoingRequest;
  readonly #isModern: boolean;
  readonly #hasSession: boolean;
  #request: HttpClientRequest | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #resumes = 0;
  #isResuming = false;
  #isFinished = false;

  constructor(
    owner: HttpCallOwner,
    message: OutgoingRequest,
    options: { readonly isModern: boolean; readonly hasSession: boolean },
  ) {
    this.#owner = owner;
    this.#message = message;
    this.id = message.id;
    this.#isModern = options.isModern;
    this.#hasSession = options.hasSession;
  }

  start(): void {
    this.#request = this.#owner.post(this.#message, this);
  }

  /** Gives up the request. Returns false if the server must be notified: in the legacy era, closing a stream cancels nothing. */
  abandon(): boolean {
    this.#finish();
    const request = this.#request;
    const isUnsent = this.#lastEventId === undefined && request?.isSent !== true;
    if (this.#isModern || isUnsent) {
      request?.destroy();
      return true;
    }
    // Some servers never end the stream of a cancelled request.
    request?.destroyAfter(LINGER_MS);
    return false;
  }

  stop(): void {
    this.#finish();
    this.#request?.destroy();
  }

  onBody(response: IncomingMessage, text: string): void {
    if (this.#isFinished) return;
    if (this.#hasSession && isSessionLostResponse(this.id, response, text))
      return this.#failSession(response, text);
    if (this.#isResuming) return this.#handleResumeRefusal(response, text);
    if (this.#message.method === 'initialize') this.#owner.onInitialized(response);
    const { events } = this.#owner;
    const parsed = parseHttpResponse(this.id, response, text);
    this.#finish();
    if (typeof parsed === 'string') events.onMessage(parsed, this.id);
    else events.onRequestFailed(this.id, parsed);
  }

  onStream(response: IncomingMessage): void {
    if (this.#message.method === 'initialize' && !this.#isResuming) this.#owner.onInitialized(response);
  }

  onEvent(event: SseEvent): void {
    this.#resumes = 0;
    if (this.#isFinished || !isMessageEvent(event)) return;
    const text = findResponseText(this.id, event.data);
    if (text === undefined) return this.#owner.events.onMessage(event.data, this.id);
    this.#finish();
    // A server that does not end the stream after its response would occupy the socket forever.
    this.#request?.destroyAfter(LINGER_MS);
    this.#owner.events.onMessage(text, this.id);
  }

  onEnd(error: Error | undefined): void {
    if (this.#isFinished) return;
    this.#lastEventId = this.#request?.lastEventId ?? this.#lastEventId;
    this.#retryMs = this.#request?.retryMs ?? this.#retryMs;
    const isOwnError = error instanceof GatewayError;
    const canResume = !this.#isModern && !isOwnError && (this.#lastEventId ?? '') !== '';
    if (canResume) return this.#resumeLater(error);
    this.#fail(
      error ?? new GatewayError('UPSTREAM_CLOSED', 'The server ended the stream without a response.'),
    );
  }

  #resumeLater(error: Error | undefined): void {
    if (this.#resumes === MAX_RESUMES) return this.#failResume(error);
    this.#resumes++;
    const delayMs = reconnectDelayMs({
      attempt: this.#resumes,
      retryMs: this.#retryMs,
      random: this.#owner.random,
    });
    this.#timer = setTimeout(() => {
      this.#isResuming = true;
      this.#request = this.#owner.resume(this.#lastEventId ?? '', this);
    }, delayMs);
  }

  #handleResumeRefusal(response: IncomingMessage, text: string): void {
    const error = new HttpStatusError(response.statusCode ?? 0, response.headers, text);
    if (error.status >= 500 || error.status === 429) this.#resumeLater(error);
    else this.#failResume(error);
  }

  #failResume(cause: Error | undefined): void {
    const message = 'The stream broke before the response and could not be resumed.';
    this.#fail(new GatewayError('UPSTREAM_CLOSED', message, { cause }));
  }

  #failSession(response: IncomingMessage, text: string): void {
    // If a stream was being resumed, the server accepted the request earlier and may have executed it, so it must not be repeated.
    const error = new HttpStatusError(response.statusCode ?? 0, response.headers, text, true);
    if (this.#isResuming) this.#failResume(error);
    else this.#fail(error);
    this.#owner.onSessionLost(error);
  }

  #fail(error: Error): void {
    this.#finish();
    this.#owner.events.onRequestFailed(this.id, error);
  }

  #finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    clearTimeout(this.#timer);
    this.#owner.onFinished(this);
  }
}

/** Returns whether an event contains a message; servers also send events of other types, and empty ones that only set an id. */
export function isMessageEvent(event: SseEvent): boolean {
  return event.data !== '' && (event.event === '' || event.event === 'message');
}
