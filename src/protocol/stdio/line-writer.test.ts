import { PassThrough, Writable } from 'node:stream';

import { describe, expect, test, vi } from 'vitest';

import { LineWriter } from './line-writer.ts';

/** Remembers every single write; takes nothing while it is stuck. */
class Sink extends Writable {
  readonly writes: string[] = [];
  readonly #isStuck: boolean;

  constructor(isStuck = false) {
    super();
    this.#isStuck = isStuck;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes.push(chunk.toString('utf8'));
    if (!this.#isStuck) done();
  }
}

const bounds = { maxBytes: 1000, onOverflow: () => {} };

describe('LineWriter', () => {
  test('line writer: combines all messages of one tick into one write', async () => {
    const sink = new Sink();
    const writer = new LineWriter(sink, bounds);
    writer.write('a');
    void Promise.resolve().then(() => writer.write('b'));
    writer.write('c');
    await tick();
    writer.write('d');
    await tick();
    expect(sink.writes).toEqual(['a\nc\nb\n', 'd\n']);
  });

  test('line writer: keeps the order of strings and buffers', async () => {
    const sink = new Sink();
    const writer = new LineWriter(sink, bounds);
    writer.write('a');
    writer.write([Buffer.from('b1'), Buffer.from('b2')]);
    writer.write('c');
    await tick();
    expect(sink.writes.join('')).toBe('a\nb1b2\nc\n');
  });

  test('line writer: reports an overflow of buffers when the reader does not read', () => {
    const onOverflow = vi.fn<(bytes: number) => void>();
    const writer = new LineWriter(new Sink(true), { maxBytes: 1000, onOverflow });
    writer.write([Buffer.alloc(2000, 'x')]);
    expect(onOverflow).toHaveBeenCalled();
  });

  test('line writer: lets only the newest message exceed the limit, and drops the next one', () => {
    const onOverflow = vi.fn<(bytes: number) => void>();
    const sink = new Sink(true);
    const writer = new LineWriter(sink, { maxBytes: 1000, onOverflow, isNewestExempt: true });
    writer.write([Buffer.alloc(2000, 'x')]);
    expect(onOverflow).not.toHaveBeenCalled();
    writer.write([Buffer.alloc(2000, 'y')]);
    expect(onOverflow).toHaveBeenCalledExactlyOnceWith(2001);
    expect(sink.writableLength).toBe(2001);
  });

  test('line writer: writes at once when flushed, and nothing twice', async () => {
    const sink = new Sink();
    const writer = new LineWriter(sink, bounds);
    writer.write('a');
    writer.flush();
    expect(sink.writes).toEqual(['a\n']);
    await tick();
    writer.flush();
    expect(sink.writes).toEqual(['a\n']);
  });

  test('line writer: writes nothing to a stream that has ended or was destroyed', async () => {
    for (const end of [(sink: Writable) => void sink.end(), (sink: Writable) => void sink.destroy()]) {
      const sink = new PassThrough();
      const onError = vi.fn();
      sink.on('error', onError);
      const writer = new LineWriter(sink, bounds);
      end(sink);
      writer.write('a');
      await tick();
      expect(onError).not.toHaveBeenCalled();
      expect(sink.read()).toBeNull();
    }
  });

  test('line writer: measures the overflow in bytes', async () => {
    const onOverflow = vi.fn();
    const writer = new LineWriter(new Sink(true), { maxBytes: 9, onOverflow });
    writer.write('€€');
    await tick();
    expect(onOverflow).not.toHaveBeenCalled();
    writer.write('€');
    await tick();
    expect(onOverflow).toHaveBeenCalledExactlyOnceWith(11);
  });
});

/** After the promises and the next ticks of now. */
function tick(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
