import type { Duplex, Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deferred } from '../../../core/lib/deferred.ts';
import { GatewayError } from '../../../core/errors.ts';
import { LineReader } from '../../../protocol/stdio/line-reader.ts';
import { CONTROL_LINE_PREFIX } from '../pipe-handshake.ts';
import { SessionRecorder } from './session-recorder.ts';
import { lineStartsWith, LineFilter, readResponseId } from './line-filter.ts';

interface StdioPipeOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** The connection to the gateway that was found or started. */
  readonly firstGateway: Duplex;
  /** Finds or starts another gateway and connects to it. */
  readonly reconnect: () => Promise<Duplex>;
  readonly maxMessageBytes: number;
  readonly now: () => number;
}

/** The pipe gives up when more gateways than this are lost within `LOSS_PERIOD_MS`, because the next one would probably be lost as well. */
const MAX_LOSSES = 5;
const LOSS_PERIOD_MS = 60_000;
const CONTROL_PREFIX_BYTES = Buffer.from(CONTROL_LINE_PREFIX);

/** Passes lines between one stdio client and a gateway, and continues with another gateway when the first one is lost. */
export class StdioPipe {
  readonly #options: StdioPipeOptions;
  readonly #session = new SessionRecorder();
  readonly #ended = deferred<void>();
  /** The times at which gateways were lost without an announcement. */
  readonly #losses: number[] = [];
  /** The client's lines that have not been written to a gateway yet. */
  #queue: string[] = [];
  #gateway: Duplex | undefined;
  #isConnecting = false;
  #isInputClosed = false;
  #isOutputBroken = false;
  /** Whether the gateway announced that it ends on purpose. */
  #hasSaidGoodbye = false;
  /** Whether the next gateway is the last one to try, because the client has closed its input. */
  #isLastAttempt = false;

  constructor(options: StdioPipeOptions) {
    this.#options = options;
    const { stdin, stdout, maxMessageBytes } = options;
    const reader = new LineReader({
      maxBytes: maxMessageBytes,
      onLine: (line) => this.#onClientLine(line.toString()),
      // The gateway has the same limit and a better message, but would have to receive the whole line first.
      onTooLong: () =>
        this.#writeToClient(
          '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The message is too large."}}',
        ),
    });
    stdin.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      this.#flush();
    });
    stdin.on('end', () => {
      reader.end();
      this.#flush();
      this.stop();
    });
    stdin.on('error', () => this.stop());
    // The client no longer reads responses.
    stdout.on('error', () => this.#abort());
    stdout.on('drain', () => this.#gateway?.resume());
    this.#attachGateway(options.firstGateway);
  }

  /** Resolves when the client or the gateway has finished the session. Rejects when no gateway can continue it. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Stops reading from the client, as at the end of its input. Pending requests are still answered. */
  stop(): void {
    if (this.#isInputClosed) return;
    this.#isInputClosed = true;
    this.#options.stdin.pause();
    this.#endGatewayInput();
  }

  #endGatewayInput(): void {
    if (this.#isConnecting) return;
    if (this.#gateway === undefined) this.#ended.resolve();
    else this.#gateway.end();
  }

  #onClientLine(line: string): void {
    const needsResponse = this.#session.recordClientLine(line);
    this.#queue.push(line);
    if (this.#gateway === undefined && needsResponse && !this.#isConnecting) void this.#reconnect();
  }

  /** Writes all queued lines at once. */
  #flush(): void {
    const gateway = this.#gateway;
    if (gateway === undefined || this.#queue.length === 0) return;
    const lines = this.#queue;
    this.#queue = [];
    if (gateway.write(`${lines.join('\n')}\n`)) return;
    this.#options.stdin.pause();
    gateway.once('drain', () => {
      if (!this.#isInputClosed) this.#options.stdin.resume();
    });
  }

  #attachGateway(gateway: Duplex): void {
    this.#gateway = gateway;
    this.#hasSaidGoodbye = false;
    const { stdout } = this.#options;
    const filter = new LineFilter({
      shouldForward: (line) => this.#isForClient(line),
      forward: (bytes) => {
        if (!stdout.write(bytes)) gateway.pause();
      },
    });
    gateway.on('data', (chunk: Buffer) => filter.push(chunk));
    gateway.on('error', () => {}); // The 'close' event follows.
    gateway.on('end', () => gateway.end());
    gateway.on('close', () => this.#onGatewayClosed(gateway));
    gateway.resume();
  }

  #isForClient(line: readonly Buffer[]): boolean {
    if (lineStartsWith(line, CONTROL_PREFIX_BYTES)) {
      this.#hasSaidGoodbye = true;
      return false;
    }
    const id = readResponseId(line);
    return id === undefined || this.#session.recordResponse(id);
  }

  #onGatewayClosed(gateway: Duplex): void {
    if (this.#gateway !== gateway) return;
    this.#gateway = undefined;
    if (!this.#hasSaidGoodbye) this.#losses.push(this.#options.now());
    if (this.#isInputClosed) this.#session.dropListenRequests();
    for (const response of this.#session.failUnrepeatableRequests()) this.#writeToClient(response);
    if (this.#isInputClosed && (this.#isLastAttempt || !this.#session.hasPendingRequests))
      return this.#ended.resolve();
    // For a client that has closed its input, only one other gateway is tried.
    this.#isLastAttempt = this.#isInputClosed;
    // A gateway that ended on purpose is replaced only when a request needs one.
    if (this.#session.hasPendingRequests || !this.#hasSaidGoodbye) void this.#reconnect();
    // A write to the closed gateway may have paused the input, and its 'drain' event will not come.
    else this.#options.stdin.resume();
  }

  async #reconnect(): Promise<void> {
    this.#isConnecting = true;
    const { stdin, now, reconnect } = this.#options;
    stdin.pause();
    try {
      // The oldest of the recent losses shows whether all of them fall within the period.
      if (this.#losses.length > MAX_LOSSES && now() - (this.#losses.shift() ?? 0) < LOSS_PERIOD_MS)
        throw new GatewayError(
          'GATEWAY_UNAVAILABLE',
          `The gateway stopped more than ${MAX_LOSSES} times within a minute. The reason is in logs/gateway.log in the state folder.`,
        );
      const replay = new Set(this.#session.createReplay());
      const gateway = await reconnect();
      this.#isConnecting = false;
      if (this.#isOutputBroken) return void gateway.destroy();
      this.#attachGateway(gateway);
      // The replay already contains the queued requests that can be repeated.
      this.#queue = [...replay, ...this.#queue.filter((line) => !replay.has(line))];
      this.#flush();
      for (const line of this.#session.createListChangedLines()) this.#writeToClient(line);
      if (this.#isInputClosed) this.#endGatewayInput();
      else stdin.resume();
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      // Requests that the client sent in the meantime are still unread. Two turns of the event loop read them, so they get an error, too.
      if (!this.#isInputClosed) stdin.resume();
      await nextTurn();
      await nextTurn();
      for (const response of this.#session.failAllRequests(error.message)) this.#writeToClient(response);
      this.#ended.reject(error);
    }
  }

  #writeToClient(line: string): void {
    this.#options.stdout.write(`${line}\n`);
  }

  #abort(): void {
    this.#isOutputBroken = true;
    this.#isInputClosed = true;
    this.#options.stdin.pause();
    this.#gateway?.destroy();
    this.#gateway = undefined;
    this.#ended.resolve();
  }
}
