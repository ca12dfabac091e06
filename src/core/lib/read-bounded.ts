import { ChunkCollector } from './chunk-collector.ts';

/** Thrown if a body has more bytes than its reader accepts. */
export class BodyTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`The response is larger than ${maxBytes} bytes.`);
  }
}

/**
 * Reads a whole text of at most `maxBytes`, in memory in proportion to its size, however small its chunks are. Rejects with a
 * `BodyTooLargeError` as soon as there is more, which also cancels the body.
 */
export async function readBounded(body: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<string> {
  const chunks = new ChunkCollector();
  for await (const chunk of body ?? []) {
    if (chunks.length + chunk.length > maxBytes) throw new BodyTooLargeError(maxBytes);
    chunks.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
  }
  return chunks.take().toString('utf8');
}
