import type { IncomingMessage } from 'node:http';

import { NOWHERE } from '../../lib/crowd.ts';
import type { Member } from '../../lib/crowd.ts';
import { GatewayError } from '../../model/errors.ts';
import type { SseEvent } from './frame-sse.ts';
import { answerText, isSessionGone, readAnswer } from './http-answer.ts';
import type { HttpExchange, Receiver } from './http-exchange.ts';
import { reconnectDelayMs } from './reconnect-delay.ts';
import { HttpStatusError } from '../stream.ts';
import type { Outgoing, StreamEvents } from '../stream.ts';

export type OutgoingRequest = Extract<Outgoing, { kind: 'request' }>;

/** What a call needs of the stream that it belongs to. */
export interface CallOwner {
  readonly events: StreamEvents;
  readonly random: () => number;
  post(message: Outgoing, receiver: Receiver): HttpExchange;
  /** The rest of a stream that broke after this event. */
  resume(lastEventId: string, receiver: Receiver): HttpExchange;
  initialized(answer: IncomingMessage): void;
  finished(call: HttpCall): void;
  sessionLost(error: HttpStatusError): void;
}

const MAX_RESUMES = 5;
const LINGER_MS = 5000;

/** One request until its answer: the POST, and the GETs that resume its stream where the server offers that. */
export class HttpCall implements Receiver, Member {
  place = NOWHERE;
  readonly id: number;
  readonly #owner: CallOwner;
  readonly #message: OutgoingRequest;
  readonly #isModern: boolean;
  readonly #hasSession: boolean;
  #exchange: HttpExchange | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #resumes = 0;
  #isResuming = false;
  #isOver = false;

  constructor(
    owner: CallOwner,
    message: OutgoingRequest,
    has: { readonly isModern: boolean; readonly hasSession: boolean },
  ) {
    this.#owner = owner;
    this.#message = message;
    this.id = message.id;
    this.#isModern = has.isModern;
    this.#hasSession = has.hasSession;
  }

  start(): void {
    this.#exchange = this.#owner.post(this.#message, this);
  }

  /** False where the server must be told in words: a closed stream means nothing in the legacy era. */
  abandon(): boolean {
    this.#finish();
    const exchange = this.#exchange;
    const isUnseen = this.#lastEventId === undefined && exchange?.isSent !== true;
    if (this.#isModern || isUnseen) {
      exchange?.destroy();
      return true;
    }
    // A cancelled request gets no answer, and some servers then never end its stream.
    exchange?.destroyAfter(LINGER_MS);
    return false;
  }

  stop(): void {
    this.#finish();
    this.#exchange?.destroy();
  }

  body(answer: IncomingMessage, text: string): void {
    if (this.#isOver) return;
    if (this.#hasSession && isSessionGone(this.id, answer, text)) return this.#loseSession(answer, text);
    if (this.#isResuming) return this.#resumeRefused(answer, text);
    if (this.#message.method === 'initialize') this.#owner.initialized(answer);
    const { events } = this.#owner;
    const read = readAnswer(this.id, answer, text);
    this.#finish();
    if (typeof read === 'string') events.message(read, this.id);
    else events.failed(this.id, read);
  }

  opened(answer: IncomingMessage): void {
    if (this.#message.method === 'initialize' && !this.#isResuming) this.#owner.initialized(answer);
  }

  event(event: SseEvent): void {
    this.#resumes = 0;
    if (this.#isOver || !isMessage(event)) return;
    const answer = answerText(this.id, event.data);
    if (answer === undefined) return this.#owner.events.message(event.data, this.id);
    this.#finish();
    // The server is to end the stream now; one that does not would keep a socket for good.
    this.#exchange?.destroyAfter(LINGER_MS);
    this.#owner.events.message(answer, this.id);
  }

  ended(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#lastEventId = this.#exchange?.lastEventId ?? this.#lastEventId;
    this.#retryMs = this.#exchange?.retryMs ?? this.#retryMs;
    const isOurRefusal = error instanceof GatewayError;
    const canResume = !this.#isModern && !isOurRefusal && (this.#lastEventId ?? '') !== '';
    if (canResume) return this.#resumeLater(error);
    this.#fail(
      error ?? new GatewayError('UPSTREAM_CLOSED', 'The server ended the stream without an answer.'),
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
      this.#exchange = this.#owner.resume(this.#lastEventId ?? '', this);
    }, delayMs);
  }

  #resumeRefused(answer: IncomingMessage, text: string): void {
    const error = new HttpStatusError(answer.statusCode ?? 0, answer.headers, text);
    if (error.status >= 500 || error.status === 429) this.#resumeLater(error);
    else this.#failResume(error);
  }

  #failResume(cause: Error | undefined): void {
    const message = 'The stream broke before the answer and could not be resumed.';
    this.#fail(new GatewayError('UPSTREAM_CLOSED', message, { cause }));
  }

  #loseSession(answer: IncomingMessage, text: string): void {
    // While resuming the request itself was taken long ago, so it may have been executed.
    const error = new HttpStatusError(answer.statusCode ?? 0, answer.headers, text, true);
    if (this.#isResuming) this.#failResume(error);
    else this.#fail(error);
    this.#owner.sessionLost(error);
  }

  #fail(error: Error): void {
    this.#finish();
    this.#owner.events.failed(this.id, error);
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#owner.finished(this);
  }
}

/** Servers also send events of their own kind, and empty ones that only carry an id. */
export function isMessage(event: SseEvent): boolean {
  return event.data !== '' && (event.event === '' || event.event === 'message');
}
