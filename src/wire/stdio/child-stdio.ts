import type { Readable, Writable } from 'node:stream';
import { LineReader } from './frame-lines.ts';
import { LineWriter } from './line-writer.ts';
import type { MessageStream, StreamEvents } from '../stream.ts';

/** Frames the pipes of a server's process; starting and ending the process is not its business. */
export function childStream(options: {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly events: StreamEvents;
  readonly maxMessageBytes: number;
  readonly maxQueuedBytes: number;
  readonly onTooLong: (bytes: number) => void;
  /** Ends the process; resolves when nothing of it is left. */
  readonly end: () => Promise<void>;
}): MessageStream {
  const { stdin, stdout, events } = options;
  let isClosed = false;
  /** The server was written to since it last said something. */
  let isBusy = false;
  const closed = (error: Error): void => {
    if (isClosed) return;
    isClosed = true;
    events.closed(error);
  };
  const reader = new LineReader({
    maxBytes: options.maxMessageBytes,
    onLine: (line) => events.message(line),
    onTooLong: options.onTooLong,
  });
  const writer = new LineWriter(stdin, {
    maxBytes: options.maxQueuedBytes,
    onOverflow: () => closed(new Error('The server does not read its standard input.')),
    // Requests of many sockets come in a tick each: what a busy server is sent waits until all were read, and is one system call.
    // With sixteen HTTP clients that is a fifth less of the main thread for a call, and a sixth with five hundred.
    later: (flush) => {
      if (isBusy) setImmediate(flush);
      else process.nextTick(flush);
      isBusy = true;
    },
  });
  stdout.on('data', (chunk: Buffer) => {
    isBusy = false;
    reader.push(chunk);
  });
  stdout.on('end', () => {
    reader.end();
    closed(new Error('The server closed its standard output.'));
  });
  stdout.on('error', closed);
  // A pipe that a stray grandchild holds open is cut by us and never ends.
  stdout.on('close', () => closed(new Error('The server closed its standard output.')));
  // A server that is gone breaks the pipe; the end of its output is what tells.
  stdin.on('error', () => {});
  return {
    send: (message) => writer.write(message.text),
    abandon: () => false,
    negotiated: () => {},
    close: () => {
      closed(new Error('The connection was closed.'));
      writer.flush();
      return options.end();
    },
  };
}
