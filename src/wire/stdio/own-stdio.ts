import type { Readable, Writable } from 'node:stream';
import { Cancellation } from '../../lib/cancellation.ts';
import { Crowd, NOWHERE } from '../../lib/crowd.ts';
import type { Member } from '../../lib/crowd.ts';
import type { Payload } from '../../lib/payload.ts';
import { GatewayError } from '../../model/errors.ts';
import type { RpcErrorBody } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import { RPC } from '../era.ts';
import { LineReader } from './frame-lines.ts';
import type { Line } from './frame-lines.ts';
import { LineWriter } from './line-writer.ts';
import { errorText, notificationText, parseMessage, requestText, writtenResult } from '../message.ts';
import type { Message, RequestId } from '../message.ts';
import type { ClientChannel, Connection, IncomingRequest } from '../serving.ts';

/** The one revision in which a client may send several messages in an array. */
const BATCH_VERSION = '2025-03-26';
const LISTEN = 'subscriptions/listen';

/** Serves the client at the other end of our own standard input and output. */
export class OwnStdio implements ClientChannel {
  readonly #writer: LineWriter;
  readonly #connection: Connection;
  readonly #requests = new Crowd<StdioRequest>();
  #mayBatch = false;
  #onSettled: (() => void) | undefined;

  constructor(options: {
    readonly stdin: Readable;
    readonly stdout: Writable;
    readonly connect: (channel: ClientChannel) => Connection;
    readonly maxMessageBytes: number;
    /** The client is gone: it closed our input, or reads nothing any more. */
    readonly onEnd: () => void;
  }) {
    const { stdin, stdout, onEnd, maxMessageBytes } = options;
    this.#writer = new LineWriter(stdout, { maxBytes: 4 * maxMessageBytes, onOverflow: onEnd });
    this.#connection = options.connect(this);
    const reader = new LineReader({
      maxBytes: maxMessageBytes,
      onLine: (line) => this.#receive(line),
      onTooLong: (bytes) => {
        const message = `The message of ${bytes} bytes is larger than ${maxMessageBytes}.`;
        this.#writer.write(errorText(null, { code: RPC.invalidRequest, message }));
      },
    });
    stdin.on('data', (chunk: Buffer) => reader.push(chunk));
    stdin.on('end', () => {
      reader.end();
      onEnd();
    });
    stdin.on('error', onEnd);
    // Somebody may have looked at its beginning, and it flows only when told so after that.
    stdin.resume();
    stdout.on('error', () => {
      this.cancelAll();
      onEnd();
    });
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.#writer.write(notificationText(method, params));
  }

  ask(id: RequestId, method: string, params: JsonObject | undefined): void {
    this.#writer.write(requestText(id, method, params));
  }

  get inFlight(): number {
    return this.#requests.size;
  }

  /** Resolves when everything was answered but what stays open by its nature. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#onSettled = () => {
        if (![...this.#requests].some(({ method }) => method !== LISTEN)) resolve();
      };
      this.#onSettled();
    });
  }

  cancelAll(): void {
    const reason = new GatewayError('CALL_CANCELLED', 'The client went away.');
    for (const request of this.#requests) request.withdraw(reason);
  }

  close(): void {
    this.#connection.close();
    this.#writer.flush();
  }

  #receive(line: Line): void {
    const parsed = parseMessage(line);
    if (parsed.kind === 'garbage') {
      this.#writer.write(
        errorText(null, { code: RPC.parseError, message: 'Parse error: this line is not JSON.' }),
      );
    } else if (parsed.kind !== 'batch') {
      this.#take(parsed);
    } else if (!this.#mayBatch || parsed.messages.length === 0) {
      const message = 'Batches exist in protocol version 2025-03-26 only.';
      this.#writer.write(errorText(null, { code: RPC.invalidRequest, message }));
    } else {
      for (const message of parsed.messages) this.#take(message);
    }
  }

  #take(message: Message): void {
    switch (message.kind) {
      case 'request':
        return this.#request(message);
      case 'notification':
        if (message.method === 'notifications/cancelled') this.#cancel(message.params);
        return this.#connection.notification(message.method, message.params);
      case 'result':
      case 'error':
        return this.#connection.response?.(message);
      case 'invalid':
        this.#writer.write(
          errorText(message.id, {
            code: RPC.invalidRequest,
            message: `Invalid request: ${message.problem}.`,
          }),
        );
    }
  }

  #request(message: Message & { kind: 'request' }): void {
    const request = new StdioRequest(message, this.#writer, (settled, result) => {
      this.#requests.delete(settled);
      this.#onSettled?.();
      if (settled.method !== 'initialize' || !isJsonObject(result?.peek)) return;
      this.#mayBatch = result.peek['protocolVersion'] === BATCH_VERSION;
    });
    this.#requests.add(request);
    this.#connection.request(request);
  }

  #cancel(params: JsonObject | undefined): void {
    const { requestId, reason } = params ?? {};
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    const why = typeof reason === 'string' ? `: ${reason.slice(0, 500)}` : '.';
    [...this.#requests]
      .findLast(({ id }) => id === requestId)
      ?.withdraw(new GatewayError('CALL_CANCELLED', `The client cancelled the request${why}`));
  }
}

/** Answered once, or never when the client withdrew it. */
class StdioRequest implements IncomingRequest, Member {
  place = NOWHERE;
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly cancellation = new Cancellation();
  readonly #writer: LineWriter;
  readonly #settled: (request: StdioRequest, result: Payload | undefined) => void;
  #isOpen = true;

  constructor(
    message: Message & { kind: 'request' },
    writer: LineWriter,
    settled: (request: StdioRequest, result: Payload | undefined) => void,
  ) {
    this.id = message.id;
    this.method = message.method;
    this.params = message.params;
    this.#writer = writer;
    this.#settled = settled;
  }

  result(payload: Payload): void {
    if (this.#close(payload)) this.#writer.write(writtenResult(this.id, payload));
  }

  error(error: RpcErrorBody): void {
    if (this.#close(undefined)) this.#writer.write(errorText(this.id, error));
  }

  notify(method: string, params: JsonObject | undefined): void {
    if (this.#isOpen) this.#writer.write(notificationText(method, params));
  }

  readonly canAsk = true;

  ask(id: RequestId, method: string, params: JsonObject | undefined): void {
    if (this.#isOpen) this.#writer.write(requestText(id, method, params));
  }

  withdraw(reason: GatewayError): void {
    if (this.#close(undefined)) this.cancellation.cancel(reason);
  }

  #close(result: Payload | undefined): boolean {
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    this.#settled(this, result);
    return true;
  }
}
