import type { Socket } from 'node:net';
import { GOODBYE_LINE } from '../shared-gateway/pipe-handshake.ts';
import { StdioServerTransport } from '../../protocol/stdio/stdio-server-transport.ts';
import type { ClientChannel, ClientConnection } from '../../protocol/client-connection.ts';
import { MAX_MESSAGE_BYTES } from '../app-options.ts';

interface PipeConnectionOptions {
  readonly connect: (channel: ClientChannel) => ClientConnection;
  /** Milliseconds that requests may take to finish after their client has closed its input. */
  readonly shutdownMs: number;
  readonly onClosed: () => void;
  /** Called when the client is disconnected because it does not read. */
  readonly onSlowClient: (unsentBytes: number) => void;
}

/** Maximum time to wait until written data has reached the client. */
const FLUSH_MS = 250;

/** The connection to a `trunkline serve` process, which pipes the standard input and output of its client through the socket. */
export class PipeConnection {
  readonly #socket: Socket;
  readonly #transport: StdioServerTransport;
  readonly #options: PipeConnectionOptions;
  #isInputClosed = false;
  #isClosed = false;

  constructor(socket: Socket, options: PipeConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#transport = new StdioServerTransport({
      stdin: socket,
      stdout: socket,
      connect: options.connect,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      onEnd: () => void this.#onInputClosed(),
      onSlowClient: (unsentBytes) => {
        if (socket.destroyed) return;
        options.onSlowClient(unsentBytes);
        socket.destroy();
      },
    });
    socket.on('close', () => {
      this.#transport.cancelAll();
      this.#close();
    });
    socket.resume();
  }

  stopReading(): void {
    this.#socket.pause();
  }

  drained(): Promise<void> {
    return this.#transport.drained();
  }

  /** Tells the process that the gateway stops, so that it can look for another gateway. */
  async sayGoodbye(): Promise<void> {
    this.#close();
    if (this.#socket.destroyed) return;
    this.#socket.write(GOODBYE_LINE);
    await this.#endSocket();
  }

  /** Handles the end of the client's input: waits for pending responses, which the client still reads, then closes the connection. */
  async #onInputClosed(): Promise<void> {
    if (this.#isInputClosed) return;
    this.#isInputClosed = true;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.#options.shutdownMs)));
    await Promise.race([this.#transport.drained(), timeout]);
    clearTimeout(timer);
    this.#transport.cancelAll();
    this.#close();
    await this.#endSocket();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#transport.close();
    this.#options.onClosed();
  }

  async #endSocket(): Promise<void> {
    const socket = this.#socket;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FLUSH_MS);
      socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      socket.end();
      // A paused socket does not notice that the other side has closed the connection.
      socket.resume();
    });
    socket.destroy();
  }
}
