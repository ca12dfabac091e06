import type { ServerResponse } from 'node:http';

import { NOT_IN_SET } from '../../core/lib/swap-remove-set.ts';
import type { SetMember } from '../../core/lib/swap-remove-set.ts';
import { stringifyExact } from '../../core/lib/exact-json.ts';
import { GatewayError } from '../../core/errors.ts';
import { RPC_ERROR_CODES } from '../era.ts';
import { sendJson, onResponseClosed } from './http-io.ts';
import type { AcceptedTypes } from './http-io.ts';
import { serializeError, flattenMessage } from '../rpc-message.ts';
import type { RequestId, EncodedMessage } from '../rpc-message.ts';
import type { PostedRequest, ResponseWriter } from './posted-request.ts';
import type { ResumableResponse, ResumableStreams } from './resumable-streams.ts';
import { LARGE_BYTES, SseResponse, StallDetector } from './sse-response.ts';
import type { SseSink, ResponseLimits } from './sse-response.ts';

interface PostResponseOptions {
  readonly response: ServerResponse;
  readonly accepts: AcceptedTypes;
  readonly headers: readonly string[];
  readonly limits: ResponseLimits;
  /** The number of JSON-RPC responses to write; more than one only for a batch. */
  readonly expected: number;
  readonly isBatch: boolean;
  /** Called when the HTTP response has ended, completed or not. */
  readonly onClosed: (response: PostResponse) => void;
  /** Lets the client continue reading after its connection breaks. */
  readonly resumable?: ResumableStreams | undefined;
  /** Whether the client understands events with empty data, which give it an id to resume from. */
  readonly supportsEmptyEvents?: boolean;
}

/** The maximum length of a label in event ids; `resumable-streams.ts` rejects longer ones. */
const MAX_LABEL = 80;

/** The HTTP response to one POST: JSON if the JSON-RPC response is the first message and comes soon, else an event stream. */
export class PostResponse implements ResponseWriter, ResumableResponse, SetMember {
  index = NOT_IN_SET;
  /** Can be replaced until the response has started. */
  headers: readonly string[];
  readonly #options: PostResponseOptions;
  readonly #requests: PostedRequest[] = [];
  #remaining: number;
  #batch: string[] | undefined;
  #stream: SseSink | undefined;
  /** The number of this response among the resumable streams; set when the first event is sent. */
  #streamNumber: number | undefined;
  #stall: StallDetector | undefined;
  #isDone = false;
  /** Whether `tick` was called before; a response that is still open at the second call counts as slow. */
  #hasTicked = false;

  constructor(options: PostResponseOptions) {
    this.#options = options;
    this.#remaining = options.expected;
    this.headers = options.headers;
    onResponseClosed(options.response, () => this.#close());
  }

  /** Adds a request that ends when the client disconnects. */
  addRequest(request: PostedRequest): void {
    this.#requests.push(request);
  }

  get canNotify(): boolean {
    return this.#options.accepts.events;
  }

  sendMessage(text: string): void {
    if (this.#isDone || !this.#options.accepts.events) return;
    this.#send(text);
  }

  respond(message: EncodedMessage, status: number): void {
    if (this.#isDone) return;
    this.#remaining--;
    const { accepts, isBatch, response } = this.#options;
    if (this.#stream !== undefined || !accepts.json) {
      this.#send(flattenMessage(message));
    } else if (isBatch) {
      (this.#batch ??= []).push(flattenMessage(message));
    } else {
      this.#isDone = true;
      sendJson(response, status, { body: message, headers: this.headers });
      if (response.writableLength >= LARGE_BYTES) this.#options.limits.unsent?.add(response);
      return;
    }
    if (this.#remaining === 0) this.#finish();
  }

  /** Ends a cancelled request. HTTP requires a response although JSON-RPC does not, so a stream without an event is sent. */
  endCancelled(id: RequestId): void {
    if (this.#isDone) return;
    const isLast = this.#remaining === 1;
    if (isLast && this.#batch === undefined && !this.#options.accepts.events) {
      this.respond(
        serializeError(id, { code: RPC_ERROR_CODES.internalError, message: 'The request was cancelled.' }),
        200,
      );
      return;
    }
    this.#remaining--;
    if (!isLast) return;
    if (this.#batch === undefined) this.#open();
    this.#finish();
  }

  /** Called periodically. Turns a slow response into a stream, because clients wait longer for a body than for headers. */
  tick(): void {
    if (this.#stream !== undefined) {
      this.#stream.tick();
    } else if (this.#isDone) {
      this.#stall ??= new StallDetector(this.#options.response, this.#options.limits);
      this.#stall.check();
    } else if (this.#hasTicked && this.#options.accepts.events) {
      this.#open().tick();
      if (this.#options.supportsEmptyEvents === true) this.#send('');
    }
    this.#hasTicked = true;
  }

  /** Ends the requests that have no response yet with `reason`. */
  end(reason: GatewayError): void {
    for (const request of this.#requests) request.end(reason);
  }

  destroy(): void {
    this.#options.response.destroy();
  }

  #open(): SseSink {
    if (this.#stream === undefined) {
      const stream = new SseResponse(this.#options.response, this.#options.limits);
      this.#stream = stream;
      stream.start(this.headers);
      for (const text of this.#batch ?? []) this.#send(text);
    }
    return this.#stream;
  }

  #send(text: string): void {
    const stream = this.#open();
    const { resumable } = this.#options;
    if (resumable === undefined) return stream.send(text);
    this.#streamNumber ??= resumable.start(this, this.#label());
    stream.send(text, 'message', resumable.record(this.#streamNumber, text));
  }

  /** Encodes the request id for the event ids, so that another replica can fail the request if this replica has stopped. */
  #label(): string | undefined {
    const [request, ...more] = this.#requests;
    if (request === undefined || more.length > 0) return undefined;
    const label = Buffer.from(stringifyExact(request.id)).toString('base64url');
    return label.length <= MAX_LABEL ? label : undefined;
  }

  resume(stream: SseSink): void {
    const before = this.#stream;
    this.#stream = stream;
    // The old connection may be dead without having been closed.
    before?.destroy();
  }

  abandon(): void {
    this.#isDone = true;
    const reason = new GatewayError('CALL_CANCELLED', 'The client closed the connection.');
    for (const request of this.#requests) request.abandon(reason);
  }

  #finish(): void {
    this.#isDone = true;
    if (this.#streamNumber !== undefined) this.#options.resumable?.end(this.#streamNumber);
    if (this.#stream !== undefined) this.#stream.end();
    else {
      const text = `[${(this.#batch ?? []).join(',')}]`;
      sendJson(this.#options.response, 200, { body: text, headers: this.headers });
      if (text.length >= LARGE_BYTES) this.#options.limits.unsent?.add(this.#options.response);
    }
  }

  #close(): void {
    // A response without events cannot be resumed, so it is abandoned. A stream may be, or already was, resumed elsewhere.
    if (this.#streamNumber === undefined) {
      if (!this.#isDone) this.abandon();
    } else if (!this.#isDone && this.#stream?.isOpen !== true)
      this.#options.resumable?.markBroken(this.#streamNumber);
    this.#options.onClosed(this);
  }
}
