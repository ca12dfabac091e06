import type { Readable } from 'node:stream';

/** The time for which data is handled before other work of the event loop gets its turn. */
const MAX_TURN_MS = 5;
/** Added to the time of each chunk for the work of Node itself, because a peer may send chunks of one byte. */
const CHUNK_MS = 0.005;

/**
 * Reads a stream, and pauses it until the next turn of the event loop whenever handling its data took long. Node reads up to two megabytes
 * of a stream in one turn, so a peer that endlessly sends short messages would delay all other work by seconds. No other code may pause the
 * stream.
 */
export function readInTurns(stream: Readable, onData: (chunk: Buffer) => void): void {
  let spentMs = 0;
  const resume = (): void => void stream.resume();
  stream.on('data', (chunk: Buffer) => {
    const since = performance.now();
    onData(chunk);
    spentMs += performance.now() - since + CHUNK_MS;
    if (spentMs < MAX_TURN_MS) return;
    spentMs = 0;
    stream.pause();
    setImmediate(resume);
  });
}
