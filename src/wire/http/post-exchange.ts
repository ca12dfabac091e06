import type { ServerResponse } from 'node:http';

import { NOWHERE } from '../../lib/crowd.ts';
import type { Member } from '../../lib/crowd.ts';
import { stringifyExact } from '../../lib/exact-json.ts';
import { GatewayError } from '../../model/errors.ts';
import { RPC } from '../era.ts';
import { sendJson, whenClosed } from './http-server.ts';
import type { Accepts } from './http-server.ts';
import { errorText, textOf } from '../message.ts';
import type { RequestId, Written } from '../message.ts';
import type { PostedRequest, ReplyPath } from './posted-request.ts';
import type { Resumable, ResumableStreams } from './resumable-streams.ts';
import { EventStream, StallWatch } from './sse-server.ts';
import type { EventSink, StreamLimits } from './sse-server.ts';

export interface ExchangeOptions {
  readonly response: ServerResponse;
  readonly accepts: Accepts;
  readonly headers: readonly string[];
  readonly limits: StreamLimits;
  /** How many answers will come; an array of them is the answer to a batch. */
  readonly expected: number;
  readonly isBatch: boolean;
  /** The response is over, completed or not. */
  readonly closed: (exchange: PostExchange) => void;
  /** Where the client can go on reading when its connection breaks. */
  readonly resumable?: ResumableStreams | undefined;
  /** Whether the client knows events without data, whose ids it can go on from. */
  readonly knowsEmptyEvents?: boolean;
}

const MAX_LABEL = 80;

/** One POST and its response: JSON when nothing has to be said before the answer, else a stream of events. */
export class PostExchange implements ReplyPath, Resumable, Member {
  place = NOWHERE;
  /** May be replaced until the response has begun. */
  headers: readonly string[];
  readonly #options: ExchangeOptions;
  readonly #requests: PostedRequest[] = [];
  #expected: number;
  #collected: string[] | undefined;
  #stream: EventSink | undefined;
  /** Among the streams that can be resumed, from the first event on. */
  #number: number | undefined;
  #stall: StallWatch | undefined;
  #isDone = false;
  #wasSeen = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#expected = options.expected;
    this.headers = options.headers;
    whenClosed(options.response, () => this.#close());
  }

  /** A request that ends when the client goes away. */
  carry(request: PostedRequest): void {
    this.#requests.push(request);
  }

  get canNotify(): boolean {
    return this.#options.accepts.events;
  }

  notify(text: string): void {
    if (this.#isDone || !this.#options.accepts.events) return;
    this.#send(text);
  }

  answer(message: Written, status: number): void {
    if (this.#isDone) return;
    this.#expected--;
    const { accepts, isBatch, response } = this.#options;
    if (this.#stream !== undefined || !accepts.json) {
      this.#send(textOf(message));
    } else if (isBatch) {
      (this.#collected ??= []).push(textOf(message));
    } else {
      this.#isDone = true;
      sendJson(response, status, { body: message, headers: this.headers });
      return;
    }
    if (this.#expected === 0) this.#finish();
  }

  /** HTTP wants a response even where JSON-RPC wants none: a stream that ends without an event. */
  withdraw(id: RequestId): void {
    if (this.#isDone) return;
    const isLast = this.#expected === 1;
    if (isLast && this.#collected === undefined && !this.#options.accepts.events) {
      this.answer(errorText(id, { code: RPC.internalError, message: 'The request was cancelled.' }), 200);
      return;
    }
    this.#expected--;
    if (!isLast) return;
    if (this.#collected === undefined) this.#open();
    this.#finish();
  }

  /** Called at a steady pace. Clients wait for headers less long than for a body, so a slow answer becomes a stream. */
  tick(): void {
    if (this.#stream !== undefined) {
      this.#stream.tick();
    } else if (this.#isDone) {
      this.#stall ??= new StallWatch(this.#options.response, this.#options.limits);
      this.#stall.check();
    } else if (this.#wasSeen && this.#options.accepts.events) {
      this.#open().tick();
      if (this.#options.knowsEmptyEvents === true) this.#send('');
    }
    this.#wasSeen = true;
  }

  /** Requests without an answer get `reason`. */
  end(reason: GatewayError): void {
    for (const request of this.#requests) request.end(reason);
  }

  destroy(): void {
    this.#options.response.destroy();
  }

  #open(): EventSink {
    if (this.#stream === undefined) {
      const stream = new EventStream(this.#options.response, this.#options.limits);
      this.#stream = stream;
      stream.start(this.headers);
      for (const text of this.#collected ?? []) this.#send(text);
    }
    return this.#stream;
  }

  #send(text: string): void {
    const stream = this.#open();
    const { resumable } = this.#options;
    if (resumable === undefined) return stream.send(text);
    this.#number ??= resumable.begin(this, this.#label());
    stream.send(text, 'message', resumable.record(this.#number, text));
  }

  /** Says which request is answered here, for whoever has to tell the client that we are gone. */
  #label(): string | undefined {
    const [request, ...more] = this.#requests;
    if (request === undefined || more.length > 0) return undefined;
    const label = Buffer.from(stringifyExact(request.id)).toString('base64url');
    return label.length <= MAX_LABEL ? label : undefined;
  }

  resume(stream: EventSink): void {
    const before = this.#stream;
    this.#stream = stream;
    // The old connection may be dead without our knowing.
    before?.destroy();
  }

  giveUp(): void {
    this.#isDone = true;
    const reason = new GatewayError('CALL_CANCELLED', 'The client closed the connection.');
    for (const request of this.#requests) request.abandon(reason);
  }

  #finish(): void {
    this.#isDone = true;
    if (this.#number !== undefined) this.#options.resumable?.end(this.#number);
    if (this.#stream !== undefined) this.#stream.end();
    else {
      const text = `[${(this.#collected ?? []).join(',')}]`;
      sendJson(this.#options.response, 200, { body: text, headers: this.headers });
    }
  }

  #close(): void {
    // A stream that goes on elsewhere, or may, is not given up yet.
    if (this.#number === undefined) {
      if (!this.#isDone) this.giveUp();
    } else if (!this.#isDone && this.#stream?.isOpen !== true) this.#options.resumable?.broke(this.#number);
    this.#options.closed(this);
  }
}
