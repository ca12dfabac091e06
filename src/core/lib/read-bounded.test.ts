import { expect, test } from 'vitest';

import { BodyTooLargeError, readBounded } from './read-bounded.ts';

async function* chunksOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

test('bounded reader: returns a text of up to the limit, also with characters that chunks divide', async () => {
  const bytes = new TextEncoder().encode('{"a":"😀"}');
  const singles = [...bytes].map((byte) => Uint8Array.of(byte));
  expect(await readBounded(ReadableStream.from(singles), bytes.length)).toBe('{"a":"😀"}');
  expect(await readBounded(null, 0)).toBe('');
});

test('bounded reader: rejects a larger body and stops reading it', async () => {
  let isCancelled = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield* chunksOf('x'.repeat(1000));
    } finally {
      isCancelled = true;
    }
  }
  await expect(readBounded(endless(), 5000)).rejects.toBeInstanceOf(BodyTooLargeError);
  expect(isCancelled).toBe(true);
});

test('bounded reader: copies the bytes of many small chunks instead of keeping the chunks', async () => {
  const text = 'abcdefghij'.repeat(1000);
  async function* reused(): AsyncGenerator<Uint8Array> {
    yield* chunksOf(...text.slice(0, 100).split(''));
    // A reader that kept this chunk would see only its last content.
    const chunk = new Uint8Array(1);
    for (const letter of text.slice(100)) {
      chunk[0] = letter.charCodeAt(0);
      yield chunk;
    }
  }
  expect(await readBounded(reused(), text.length)).toBe(text);
});

test('bounded reader: ends and cancels a silent stream when its signal aborts', async () => {
  const controller = new AbortController();
  let cancelledWith: unknown;
  // Like a body of `fetch` that has lost its signal.
  const stream = new ReadableStream<Uint8Array>({
    start: (source) => source.enqueue(Uint8Array.of(32)),
    cancel: (reason) => void (cancelledWith = reason),
  });
  const reading = readBounded(stream, 1000, controller.signal);
  controller.abort(new Error('too slow'));
  await expect(reading).rejects.toThrow('too slow');
  expect(cancelledWith).toMatchObject({ message: 'too slow' });
});
