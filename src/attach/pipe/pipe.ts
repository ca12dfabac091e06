import type { Duplex, Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deferred } from '../../lib/deferred.ts';
import { GatewayError } from '../../model/errors.ts';
import { LineReader } from '../../wire/stdio/frame-lines.ts';
import { CONTROL } from '../hello.ts';
import { PipedSession } from './piped-session.ts';
import { answeredId, startsWith, WholeLines } from './whole-lines.ts';

export interface PipeOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** The gateway that was found or started. */
  readonly first: Duplex;
  /** Finds or starts another one. */
  readonly connect: () => Promise<Duplex>;
  readonly maxMessageBytes: number;
  readonly now: () => number;
}

/** Gateways that end one after the other are not started for ever. */
const MAX_LOSSES = 5;
const LOSSES_WITHIN_MS = 60_000;
const CONTROL_BYTES = Buffer.from(CONTROL);

/** Carries the lines of one client to a gateway and back, and goes on with another gateway when that one is lost. */
export class Pipe {
  readonly #options: PipeOptions;
  readonly #session = new PipedSession();
  readonly #ended = deferred<void>();
  readonly #losses: number[] = [];
  /** Lines on their way to a gateway, or waiting for one. */
  #queue: string[] = [];
  #gateway: Duplex | undefined;
  #isConnecting = false;
  #isInputOver = false;
  #isOver = false;
  #hasSaidGoodbye = false;
  #isLastChance = false;

  constructor(options: PipeOptions) {
    this.#options = options;
    const { stdin, stdout, maxMessageBytes } = options;
    const reader = new LineReader({
      maxBytes: maxMessageBytes,
      onLine: (line) => this.#fromClient(line.toString()),
      // The gateway has the same bound and the better words for it, but it would have to be sent all of it.
      onTooLong: () =>
        this.#toClient('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Too large."}}'),
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
    // Nobody reads answers any more.
    stdout.on('error', () => this.#giveUp());
    stdout.on('drain', () => this.#gateway?.resume());
    this.#use(options.first);
  }

  /** Resolves when client or gateway are done with each other; rejects when there is no gateway to go on with. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** As at the end of input: what was asked is still answered. */
  stop(): void {
    if (this.#isInputOver) return;
    this.#isInputOver = true;
    this.#options.stdin.pause();
    this.#endOutput();
  }

  #endOutput(): void {
    if (this.#isConnecting) return;
    if (this.#gateway === undefined) this.#ended.resolve();
    else this.#gateway.end();
  }

  #fromClient(line: string): void {
    const isAsking = this.#session.sent(line);
    this.#queue.push(line);
    if (this.#gateway === undefined && isAsking && !this.#isConnecting) void this.#reconnect();
  }

  /** Lines that came together go on together. */
  #flush(): void {
    const gateway = this.#gateway;
    if (gateway === undefined || this.#queue.length === 0) return;
    const lines = this.#queue;
    this.#queue = [];
    if (gateway.write(`${lines.join('\n')}\n`)) return;
    this.#options.stdin.pause();
    gateway.once('drain', () => {
      if (!this.#isInputOver) this.#options.stdin.resume();
    });
  }

  #use(gateway: Duplex): void {
    this.#gateway = gateway;
    this.#hasSaidGoodbye = false;
    const { stdout } = this.#options;
    const lines = new WholeLines({
      keeps: (line) => this.#isForClient(line),
      pass: (bytes) => {
        if (!stdout.write(bytes)) gateway.pause();
      },
    });
    gateway.on('data', (chunk: Buffer) => lines.push(chunk));
    gateway.on('error', () => {}); // It is closed next.
    gateway.on('end', () => gateway.end());
    gateway.on('close', () => this.#lost(gateway));
    gateway.resume();
  }

  #isForClient(line: readonly Buffer[]): boolean {
    const isControl = startsWith(line, CONTROL_BYTES);
    if (isControl) this.#hasSaidGoodbye = true;
    const id = isControl ? undefined : answeredId(line);
    return !isControl && (id === undefined || this.#session.answered(id));
  }

  #lost(gateway: Duplex): void {
    if (this.#gateway !== gateway) return;
    this.#gateway = undefined;
    if (!this.#hasSaidGoodbye) this.#losses.push(this.#options.now());
    if (this.#isInputOver) this.#session.closing();
    for (const answer of this.#session.lost()) this.#toClient(answer);
    if (this.#isInputOver && (this.#isLastChance || !this.#session.isWaiting)) return this.#ended.resolve();
    // A client that has gone waits for one other gateway, and not for as many as it takes.
    this.#isLastChance = this.#isInputOver;
    // One that ended on purpose is not called back before it is needed.
    if (this.#session.isWaiting || !this.#hasSaidGoodbye) void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    this.#isConnecting = true;
    const { stdin, now, connect } = this.#options;
    stdin.pause();
    try {
      if (this.#losses.length > MAX_LOSSES && now() - (this.#losses.shift() ?? 0) < LOSSES_WITHIN_MS)
        throw new GatewayError(
          'GATEWAY_UNAVAILABLE',
          'The gateway ended again and again; logs/gateway.log says why.',
        );
      const waiting = new Set(this.#session.replay());
      const gateway = await connect();
      this.#isConnecting = false;
      if (this.#isOver) return void gateway.destroy();
      this.#use(gateway);
      // Requests that can be repeated are among what is replayed.
      this.#queue = [...waiting, ...this.#queue.filter((line) => !waiting.has(line))];
      this.#flush();
      for (const line of this.#session.news()) this.#toClient(line);
      if (this.#isInputOver) this.#endOutput();
      else stdin.resume();
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      // What the client has asked meanwhile lies there unread; two turns later it has been read.
      if (!this.#isInputOver) stdin.resume();
      await nextTurn();
      await nextTurn();
      for (const answer of this.#session.abandoned(error.message)) this.#toClient(answer);
      this.#ended.reject(error);
    }
  }

  #toClient(line: string): void {
    this.#options.stdout.write(`${line}\n`);
  }

  #giveUp(): void {
    this.#isOver = true;
    this.#isInputOver = true;
    this.#options.stdin.pause();
    this.#gateway?.destroy();
    this.#gateway = undefined;
    this.#ended.resolve();
  }
}
