import type { TLSSocket } from 'node:tls';

import { LineReader } from '../../protocol/stdio/line-reader.ts';
import { LineWriter } from '../../protocol/stdio/line-writer.ts';
import type { EncodedMessage } from '../../protocol/rpc-message.ts';
import { decodeFrame, encodeFrame, ReplicaProtocolError } from './frame.ts';
import type { Frame } from './frame.ts';

interface ReplicaConnectionOptions {
  readonly socket: TLSSocket;
  readonly maxMessageBytes: number;
  readonly onFrame: (frame: Frame) => void;
  /** Called once; no frame is sent or received afterwards. */
  readonly onClosed: (error: Error) => void;
}

/**
 * The idle time after which TCP keep-alive probes the other machine. Missing pings also reveal a lost machine or a
 * hanging process.
 */
const KEEP_ALIVE_MS = 5000;
const PING = 'ping';
/** The default interval between pings. */
const PING_MS = 2000;
/**
 * The number of ping intervals without any data after which the other end counts as silent. Intervals are counted instead of time, so that
 * a pause of this process is not mistaken for silence of the other one.
 */
const MAX_MISSED_PINGS = 4;
/** After this time the socket is destroyed even if the other end has not read everything. */
const DESTROY_AFTER_MS = 500;

/** Sends and receives frames on one socket between two replicas. */
export class ReplicaConnection {
  readonly #socket: TLSSocket;
  readonly #writer: LineWriter;
  readonly #onClosed: (error: Error) => void;
  #isClosed = false;
  /** The number of ping intervals since data was last received. Any data counts, not only pings. */
  #missedPings = 0;
  #pingTimer: NodeJS.Timeout | undefined;

  constructor({ socket, maxMessageBytes, onFrame, onClosed }: ReplicaConnectionOptions) {
    this.#socket = socket;
    this.#onClosed = onClosed;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#writer = new LineWriter(socket, {
      maxBytes: 2 * maxMessageBytes,
      onOverflow: () => this.close(new Error('The other gateway does not read its messages.')),
    });
    const reader = new LineReader({
      maxBytes: maxMessageBytes,
      onLine: (line) => {
        if (this.#isClosed) return;
        const frame = decodeFrame(line);
        if (frame === undefined)
          return this.close(new ReplicaProtocolError('The other gateway sent an invalid frame.'));
        try {
          if (frame.head[0] !== PING) onFrame(frame);
        } catch (error) {
          // An uncaught exception would end the process, and with it the calls of all clients.
          this.close(
            new ReplicaProtocolError('The other gateway sent a message that could not be handled.', {
              cause: error,
            }),
          );
        }
      },
      onTooLong: (bytes) =>
        this.close(
          new ReplicaProtocolError(`The other gateway sent a frame of ${bytes} bytes, which is too long.`),
        ),
    });
    socket.on('data', (chunk: Buffer) => {
      this.#missedPings = 0;
      reader.push(chunk);
    });
    socket.on('error', (error: Error) => this.close(error));
    socket.on('close', () => this.close(new Error('The connection to the other gateway was closed.')));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Starts to send pings, and closes the connection when the other end has been silent for too many intervals. */
  startPings(pingMs = PING_MS): void {
    if (this.#isClosed) return;
    this.#pingTimer = setInterval(() => {
      if (++this.#missedPings > MAX_MISSED_PINGS) this.close(new Error('The other gateway is silent.'));
      else this.send([PING]);
    }, pingMs).unref();
  }

  send(head: readonly unknown[], body?: EncodedMessage): void {
    if (!this.#isClosed) this.#writer.write(encodeFrame(head, body));
  }

  /** Closes the connection. Frames that are still buffered are sent, unless the other end does not read them in time. */
  close(error: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#pingTimer);
    this.#writer.flush();
    this.#socket.end();
    setTimeout(() => this.#socket.destroy(), DESTROY_AFTER_MS).unref();
    this.#onClosed(error);
  }
}
