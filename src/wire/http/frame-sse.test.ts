import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { GatewayError } from '../../model/errors.ts';
import { SseReader, sseEvent } from './frame-sse.ts';
import type { SseEvent } from './frame-sse.ts';

function read(...chunks: (Buffer | string)[]): { events: SseEvent[]; reader: SseReader } {
  const events: SseEvent[] = [];
  const reader = new SseReader({ maxBytes: 1000, onEvent: (event) => events.push(event) });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return { events, reader };
}

describe('SseReader', () => {
  test.each([
    ['LF', '\n'],
    ['CR', '\r'],
    ['CRLF', '\r\n'],
  ])('ends lines at %s', (_name, end) => {
    const { events } = read(['event: message', 'data: one', '', 'data: two', '', ''].join(end));
    expect(events).toEqual([
      { event: 'message', data: 'one' },
      { event: '', data: 'two' },
    ]);
  });

  test('joins several data lines with newlines and takes at most one space after the colon', () => {
    expect(read('data:  a\ndata:b\ndata\ndata:\n\n').events).toEqual([{ event: '', data: ' a\nb\n\n' }]);
  });

  test('skips comments, unknown fields, blocks without data and a byte order mark', () => {
    const text = '\uFEFFdata: x\n\n: keep-alive\n\n\nevent: lonely\n\nfoo: 1\nunknown-field: 2\ndata: y\n\n';
    expect(read(text).events).toEqual([
      { event: '', data: 'x' },
      { event: '', data: 'y' },
    ]);
  });

  test('does not take a field name for another that it begins with', () => {
    const { events, reader } = read('datas: 1\nevents: 2\nid2: 3\nretrys: 4\ndata: x\n\ndat: 5\n\n');
    expect(events).toEqual([{ event: '', data: 'x' }]);
    expect([reader.lastEventId, reader.retryMs]).toEqual([undefined, undefined]);
  });

  test('remembers the id and the pause of blocks that carry no data', () => {
    const { reader, events } = read('id: 7\nretry: 250\n\n');
    expect([reader.lastEventId, reader.retryMs, events]).toEqual(['7', 250, []]);
  });

  test('moves the id only when its event is whole, and keeps it over events without one', () => {
    const { reader } = read('id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n');
    expect(reader.lastEventId).toBe('1');
    reader.push(Buffer.from('\n'));
    expect(reader.lastEventId).toBe('2');
  });

  test('ignores a pause that is no number and an id with a null character', () => {
    const { reader } = read('retry: soon\nid: a\0b\ndata: x\n\n');
    expect([reader.lastEventId, reader.retryMs]).toEqual([undefined, undefined]);
  });

  test('refuses an event that is too large, in one line, in many, or without an end', () => {
    expect(() => read(`data: ${'x'.repeat(1001)}\n\n`)).toThrow(GatewayError);
    expect(() => read('data: 0123456789\n'.repeat(100))).toThrow(GatewayError);
    expect(() => read('x'.repeat(600), 'x'.repeat(600))).toThrow(GatewayError);
  });

  test('does not count comments towards the size of an event', () => {
    const { events } = read(': waiting\n'.repeat(500), 'data: x\n\n');
    expect(events).toHaveLength(1);
  });

  test('reads the same events however the bytes are cut', () => {
    const text = fc.string({ unit: 'binary', maxLength: 30 }).filter((value) => !/[\r\n]/.test(value));
    const event = fc.record({
      event: fc.constantFrom('', 'message', 'ping'),
      lines: fc.array(text, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 5 }),
        fc.constantFrom('\n', '\r', '\r\n'),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        (sent, end, cuts) => {
          const wire = sent
            .flatMap(({ event: name, lines }) => [
              `event: ${name}`,
              ...lines.map((line) => `data: ${line}`),
              '',
            ])
            .map((line) => line + end)
            .join('');
          const bytes = Buffer.from(wire);
          const chunks: Buffer[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = cuts[turn % cuts.length] ?? 1;
            chunks.push(bytes.subarray(at, at + size));
            at += size;
          }
          const expected = sent.map(({ event: name, lines }) => ({
            event: name,
            data: Buffer.from(lines.join('\n')).toString(),
          }));
          expect(read(...chunks).events).toEqual(expected);
        },
      ),
    );
  });
});

describe('sseEvent', () => {
  test('writes every field before the data', () => {
    expect(sseEvent({ data: '{}', event: 'message', id: '3', retryMs: 500 })).toBe(
      'event: message\nid: 3\nretry: 500\ndata: {}\n\n',
    );
  });

  test.each(['a\nb', 'a\r\nb', 'a\rb'])('keeps the lines of %j in one event', (data) => {
    expect(read(sseEvent({ data })).events).toEqual([{ event: '', data: 'a\nb' }]);
  });
});
