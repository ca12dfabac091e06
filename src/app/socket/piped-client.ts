import type { Socket } from 'node:net';
import { GOODBYE } from '../../attach/hello.ts';
import { OwnStdio } from '../../wire/stdio/own-stdio.ts';
import type { ClientChannel, Connection } from '../../wire/serving.ts';
import { MAX_MESSAGE_BYTES } from '../app-options.ts';

interface PipedClientOptions {
  readonly connect: (channel: ClientChannel) => Connection;
  /** How long what a client asked before it left is worked on. */
  readonly shutdownMs: number;
  readonly onGone: () => void;
}

/** Enough for what was written to reach a client that reads. */
const FLUSH_MS = 250;

/** One client at the other end of a pipe: a session like that of standard input and output. */
export class PipedClient {
  readonly #socket: Socket;
  readonly #stdio: OwnStdio;
  readonly #options: PipedClientOptions;
  #isLeaving = false;
  #isClosed = false;

  constructor(socket: Socket, options: PipedClientOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#stdio = new OwnStdio({
      stdin: socket,
      stdout: socket,
      connect: options.connect,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      onEnd: () => void this.#leave(),
    });
    socket.on('close', () => {
      this.#stdio.cancelAll();
      this.#close();
    });
    socket.resume();
  }

  stopReading(): void {
    this.#socket.pause();
  }

  drained(): Promise<void> {
    return this.#stdio.drained();
  }

  /** The gateway ends; the pipe may look for another one. */
  async bye(): Promise<void> {
    this.#close();
    if (this.#socket.destroyed) return;
    this.#socket.write(GOODBYE);
    await this.#end();
  }

  /** The client will ask nothing more, but waits for answers. */
  async #leave(): Promise<void> {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.#options.shutdownMs)));
    await Promise.race([this.#stdio.drained(), late]);
    clearTimeout(timer);
    this.#stdio.cancelAll();
    this.#close();
    await this.#end();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stdio.close();
    this.#options.onGone();
  }

  async #end(): Promise<void> {
    const socket = this.#socket;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FLUSH_MS);
      socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      socket.end();
      // A paused socket never hears that the other side is done.
      socket.resume();
    });
    socket.destroy();
  }
}
