import type { Readable, Writable } from 'node:stream';
import { readInTurns } from '../../core/lib/read-in-turns.ts';
import { LineReader } from './line-reader.ts';
import { LineWriter } from './line-writer.ts';
import type { ClientTransport, TransportEvents } from '../client-transport.ts';

/** Exchanges messages over the pipes of a server process. The caller starts and ends the process. */
export function createChildTransport(options: {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly events: TransportEvents;
  readonly maxMessageBytes: number;
  readonly maxQueuedBytes: number;
  readonly onTooLong: (bytes: number) => void;
  /** Ends the process; resolves when it is gone. */
  readonly end: () => Promise<void>;
}): ClientTransport {
  const { stdin, stdout, events } = options;
  let isClosed = false;
  /** Whether something was written since the server last sent output. */
  let isBusy = false;
  const onClosed = (error: Error): void => {
    if (isClosed) return;
    isClosed = true;
    events.onClosed(error);
  };
  const reader = new LineReader({
    maxBytes: options.maxMessageBytes,
    onLine: (line) => events.onMessage(line),
    onTooLong: options.onTooLong,
  });
  const writer = new LineWriter(stdin, {
    maxBytes: options.maxQueuedBytes,
    onOverflow: () => onClosed(new Error('The server does not read its standard input.')),
    // Requests from many sockets arrive in separate ticks. While the server is busy, the flush waits until all sockets were read, so that
    // one system call writes all requests. That saves a fifth of the main thread's time per call with 16 HTTP clients, a sixth with 500.
    schedule: (flush) => {
      if (isBusy) setImmediate(flush);
      else process.nextTick(flush);
      isBusy = true;
    },
  });
  readInTurns(stdout, (chunk) => {
    isBusy = false;
    reader.push(chunk);
  });
  stdout.on('end', () => {
    reader.end();
    onClosed(new Error('The server closed its standard output.'));
  });
  stdout.on('error', onClosed);
  // The gateway destroys a pipe that a detached grandchild holds open; such a pipe emits 'close' but no 'end'.
  stdout.on('close', () => onClosed(new Error('The server closed its standard output.')));
  // Ignored: writing to an exited server fails, but the end of its output already reports the exit.
  stdin.on('error', () => {});
  return {
    send: (message) => writer.write(message.text),
    abandon: () => false,
    setProtocol: () => {},
    close: () => {
      onClosed(new Error('The connection was closed.'));
      writer.flush();
      return options.end();
    },
  };
}
