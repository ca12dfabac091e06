import { ChunkCollector } from './chunk-collector.ts';

/** Thrown if a body has more bytes than its reader accepts. */
export class BodyTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`The response is larger than ${maxBytes} bytes.`);
  }
}

/**
 * Reads a whole text of at most `maxBytes`. Its memory use is proportional to the size of the text, however small the chunks are. Rejects
 * with a `BodyTooLargeError` as soon as the body is larger, and with the signal's reason when the signal aborts; both cancel the body. The
 * signal has an effect only if the body is a `ReadableStream`.
 */
export async function readBounded(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<string> {
  const chunks = new ChunkCollector();
  const source = body instanceof ReadableStream ? readStream(body, signal) : body;
  for await (const chunk of source ?? []) {
    if (chunks.length + chunk.length > maxBytes) throw new BodyTooLargeError(maxBytes);
    chunks.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
  }
  return chunks.take().toString('utf8');
}

/**
 * Yields the chunks of a stream and cancels it at the end. The signal given to `fetch` is not enough to end a body: with
 * `redirect: 'error'`, Node 20.20 loses the signal if garbage is collected after the headers have arrived.
 */
async function* readStream(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  // If cancelling fails, the stream has already ended.
  const cancel = (): void => void reader.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener('abort', cancel);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}
