import type { Readable, Writable } from 'node:stream';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { SwapRemoveSet, NOT_IN_SET } from '../../core/lib/swap-remove-set.ts';
import type { SetMember } from '../../core/lib/swap-remove-set.ts';
import type { Payload } from '../../core/lib/payload.ts';
import { GatewayError } from '../../core/errors.ts';
import type { RpcErrorBody } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { RPC_ERROR_CODES } from '../era.ts';
import { LineReader } from './line-reader.ts';
import type { RawMessage } from './line-reader.ts';
import { LineWriter } from './line-writer.ts';
import {
  serializeError,
  serializeNotification,
  parseMessage,
  serializeRequest,
  encodeResult,
} from '../rpc-message.ts';
import type { RpcMessage, RequestId } from '../rpc-message.ts';
import type { ClientChannel, ClientConnection, IncomingRequest } from '../client-connection.ts';

/** The only protocol version in which a client may send several messages in an array. */
const BATCH_VERSION = '2025-03-26';
const LISTEN = 'subscriptions/listen';
/** The default of `maxUnsentBytes`. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;

/** Serves the client at the other end of the gateway's own standard input and output, or of a socket. */
export class StdioServerTransport implements ClientChannel {
  readonly #writer: LineWriter;
  readonly #connection: ClientConnection;
  readonly #requests = new SwapRemoveSet<StdioRequest>();
  /** Whether `initialize` has negotiated the version with batches. */
  #mayBatch = false;
  #onSettled: (() => void) | undefined;

  constructor(options: {
    readonly stdin: Readable;
    readonly stdout: Writable;
    readonly connect: (channel: ClientChannel) => ClientConnection;
    readonly maxMessageBytes: number;
    /** Called when the client is gone: it closed the input, or no longer reads the output. */
    readonly onEnd: () => void;
    /** The maximum number of bytes that are buffered for a client that does not read; the newest message may exceed it. */
    readonly maxUnsentBytes?: number;
    /** Called when a message was dropped because `maxUnsentBytes` is exceeded; `onEnd` by default. */
    readonly onSlowClient?: (unsentBytes: number) => void;
  }) {
    const { stdin, stdout, onEnd, maxMessageBytes } = options;
    this.#writer = new LineWriter(stdout, {
      maxBytes: options.maxUnsentBytes ?? MAX_UNSENT_BYTES,
      isNewestExempt: true,
      onOverflow: options.onSlowClient ?? onEnd,
    });
    this.#connection = options.connect(this);
    const reader = new LineReader({
      maxBytes: maxMessageBytes,
      onLine: (line) => this.#receive(line),
      onTooLong: (bytes) => {
        const message = `The message of ${bytes} bytes exceeds the limit of ${maxMessageBytes} bytes.`;
        this.#writer.write(serializeError(null, { code: RPC_ERROR_CODES.invalidRequest, message }));
      },
    });
    stdin.on('data', (chunk: Buffer) => reader.push(chunk));
    stdin.on('end', () => {
      reader.end();
      onEnd();
    });
    stdin.on('error', onEnd);
    // `readFirstMessage` has paused the stream.
    stdin.resume();
    stdout.on('error', () => {
      this.cancelAll();
      onEnd();
    });
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.#writer.write(serializeNotification(method, params));
  }

  sendRequest(id: RequestId, method: string, params: JsonObject | undefined): void {
    this.#writer.write(serializeRequest(id, method, params));
  }

  get inFlight(): number {
    return this.#requests.size;
  }

  /** Resolves when every request has a response, except `subscriptions/listen`, which stays open. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#onSettled = () => {
        if (![...this.#requests].some(({ method }) => method !== LISTEN)) resolve();
      };
      this.#onSettled();
    });
  }

  cancelAll(): void {
    const reason = new GatewayError('CALL_CANCELLED', 'The client disconnected.');
    for (const request of this.#requests) request.cancel(reason);
  }

  close(): void {
    this.#connection.close();
    this.#writer.flush();
  }

  #receive(line: RawMessage): void {
    const parsed = parseMessage(line);
    if (parsed.kind === 'garbage') {
      this.#writer.write(
        serializeError(null, {
          code: RPC_ERROR_CODES.parseError,
          message: 'Parse error: this line is not JSON.',
        }),
      );
    } else if (parsed.kind !== 'batch') {
      this.#handle(parsed);
    } else if (!this.#mayBatch || parsed.messages.length === 0) {
      const message = 'Batches are allowed in protocol version 2025-03-26 only.';
      this.#writer.write(serializeError(null, { code: RPC_ERROR_CODES.invalidRequest, message }));
    } else {
      for (const message of parsed.messages) this.#handle(message);
    }
  }

  #handle(message: RpcMessage): void {
    switch (message.kind) {
      case 'request':
        return this.#startRequest(message);
      case 'notification':
        if (message.method === 'notifications/cancelled') this.#cancel(message.params);
        return this.#connection.handleNotification(message.method, message.params);
      case 'result':
      case 'error':
        return this.#connection.handleResponse?.(message);
      case 'invalid':
        this.#writer.write(
          serializeError(message.id, {
            code: RPC_ERROR_CODES.invalidRequest,
            message: `Invalid request: ${message.problem}.`,
          }),
        );
    }
  }

  #startRequest(message: RpcMessage & { kind: 'request' }): void {
    const request = new StdioRequest(message, this.#writer, (settled, result) => {
      this.#requests.delete(settled);
      this.#onSettled?.();
      if (settled.method !== 'initialize' || !isJsonObject(result?.peek)) return;
      this.#mayBatch = result.peek['protocolVersion'] === BATCH_VERSION;
    });
    this.#requests.add(request);
    this.#connection.handleRequest(request);
  }

  #cancel(params: JsonObject | undefined): void {
    const { requestId, reason } = params ?? {};
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    const detail = typeof reason === 'string' ? `: ${reason.slice(0, 500)}` : '.';
    [...this.#requests]
      .findLast(({ id }) => id === requestId)
      ?.cancel(new GatewayError('CALL_CANCELLED', `The client cancelled the request${detail}`));
  }
}

/** A request that gets one response, or none if the client cancels it. */
class StdioRequest implements IncomingRequest, SetMember {
  index = NOT_IN_SET;
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly cancellation = new Cancellation();
  readonly #writer: LineWriter;
  readonly #onSettled: (request: StdioRequest, result: Payload | undefined) => void;
  #isOpen = true;

  constructor(
    message: RpcMessage & { kind: 'request' },
    writer: LineWriter,
    onSettled: (request: StdioRequest, result: Payload | undefined) => void,
  ) {
    this.id = message.id;
    this.method = message.method;
    this.params = message.params;
    this.#writer = writer;
    this.#onSettled = onSettled;
  }

  sendResult(payload: Payload): void {
    if (this.#close(payload)) this.#writer.write(encodeResult(this.id, payload));
  }

  sendError(error: RpcErrorBody): void {
    if (this.#close(undefined)) this.#writer.write(serializeError(this.id, error));
  }

  notify(method: string, params: JsonObject | undefined): void {
    if (this.#isOpen) this.#writer.write(serializeNotification(method, params));
  }

  readonly canSendRequests = true;

  sendRequest(id: RequestId, method: string, params: JsonObject | undefined): void {
    if (this.#isOpen) this.#writer.write(serializeRequest(id, method, params));
  }

  cancel(reason: GatewayError): void {
    if (this.#close(undefined)) this.cancellation.cancel(reason);
  }

  #close(result: Payload | undefined): boolean {
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    this.#onSettled(this, result);
    return true;
  }
}
