import type { TLSSocket } from 'node:tls';

import { LineReader } from '../../wire/stdio/frame-lines.ts';
import { LineWriter } from '../../wire/stdio/line-writer.ts';
import type { Written } from '../../wire/message.ts';
import { frame, readFrame } from './frame.ts';
import type { Frame } from './frame.ts';

interface LinkOptions {
  readonly socket: TLSSocket;
  readonly maxMessageBytes: number;
  readonly onFrame: (got: Frame) => void;
  /** Called once; nothing comes or goes any more. */
  readonly onClosed: (error: Error) => void;
}

/** A machine that is gone without a word is noticed by the system while nothing is sent to it, and by its silence in any case. */
const KEEP_ALIVE_MS = 5000;
const PING = 'ping';
const PING_MS = 2000;
/** Counted in pings and not in time, so that our own pause is not taken for theirs. */
const MAX_MISSED = 4;
const LINGER_MS = 500;

/** Frames on one connection between two replicas, in both directions. */
export class Link {
  readonly #socket: TLSSocket;
  readonly #writer: LineWriter;
  readonly #onClosed: (error: Error) => void;
  #isClosed = false;
  #missed = 0;
  #pings: NodeJS.Timeout | undefined;

  constructor({ socket, maxMessageBytes, onFrame, onClosed }: LinkOptions) {
    this.#socket = socket;
    this.#onClosed = onClosed;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#writer = new LineWriter(socket, {
      maxBytes: 2 * maxMessageBytes,
      onOverflow: () => this.close(new Error('The other gateway does not read.')),
    });
    const reader = new LineReader({
      maxBytes: maxMessageBytes,
      onLine: (line) => {
        if (this.#isClosed) return;
        const got = readFrame(line);
        if (got === undefined) this.close(new Error('The other gateway said something that is no frame.'));
        else if (got.head[0] !== PING) onFrame(got);
      },
      onTooLong: (bytes) => this.close(new Error(`The other gateway sent ${bytes} bytes at once.`)),
    });
    socket.on('data', (chunk: Buffer) => {
      this.#missed = 0;
      reader.push(chunk);
    });
    socket.on('error', (error: Error) => this.close(error));
    socket.on('close', () => this.close(new Error('The connection to the other gateway was closed.')));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** From now on both ends say now and then that they are there, and one that does not is gone. */
  watch(pingMs = PING_MS): void {
    if (this.#isClosed) return;
    this.#pings = setInterval(() => {
      if (++this.#missed > MAX_MISSED) this.close(new Error('The other gateway is silent.'));
      else this.send([PING]);
    }, pingMs).unref();
  }

  send(head: readonly unknown[], body?: Written): void {
    if (!this.#isClosed) this.#writer.write(frame(head, body));
  }

  /** What was sent before leaves first, unless the other end does not take it. */
  close(error: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#pings);
    this.#writer.flush();
    this.#socket.end();
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref();
    this.#onClosed(error);
  }
}
