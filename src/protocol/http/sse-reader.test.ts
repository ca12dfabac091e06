import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { GatewayError } from '../../core/errors.ts';
import { SseReader, formatSseEvent } from './sse-reader.ts';
import type { SseEvent } from './sse-reader.ts';

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
  ])('SSE reader: ends lines at %s', (_name, end) => {
    const { events } = read(['event: message', 'data: one', '', 'data: two', '', ''].join(end));
    expect(events).toEqual([
      { event: 'message', data: 'one' },
      { event: '', data: 'two' },
    ]);
  });

  test('SSE reader: joins data lines and strips at most one space after the colon', () => {
    expect(read('data:  a\ndata:b\ndata\ndata:\n\n').events).toEqual([{ event: '', data: ' a\nb\n\n' }]);
  });

  test('SSE reader: skips comments, unknown fields, blocks without data and a byte order mark', () => {
    const text = '\uFEFFdata: x\n\n: keep-alive\n\n\nevent: lonely\n\nfoo: 1\nunknown-field: 2\ndata: y\n\n';
    expect(read(text).events).toEqual([
      { event: '', data: 'x' },
      { event: '', data: 'y' },
    ]);
  });

  test('SSE reader: does not confuse a field with a longer field name', () => {
    const { events, reader } = read('datas: 1\nevents: 2\nid2: 3\nretrys: 4\ndata: x\n\ndat: 5\n\n');
    expect(events).toEqual([{ event: '', data: 'x' }]);
    expect([reader.lastEventId, reader.retryMs]).toEqual([undefined, undefined]);
  });

  test('SSE reader: remembers id and retry of blocks without data', () => {
    const { reader, events } = read('id: 7\nretry: 250\n\n');
    expect([reader.lastEventId, reader.retryMs, events]).toEqual(['7', 250, []]);
  });

  test('SSE reader: updates the last event id only with a complete event, and keeps it afterwards', () => {
    const { reader } = read('id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n');
    expect(reader.lastEventId).toBe('1');
    reader.push(Buffer.from('\n'));
    expect(reader.lastEventId).toBe('2');
  });

  test('SSE reader: ignores a non-numeric retry and an id with a NUL character', () => {
    const { reader } = read('retry: soon\nid: a\0b\ndata: x\n\n');
    expect([reader.lastEventId, reader.retryMs]).toEqual([undefined, undefined]);
  });

  test('SSE reader: rejects an event that is too large in one line, many lines or without an end', () => {
    expect(() => read(`data: ${'x'.repeat(1001)}\n\n`)).toThrow(GatewayError);
    expect(() => read('data: 0123456789\n'.repeat(100))).toThrow(GatewayError);
    expect(() => read('x'.repeat(600), 'x'.repeat(600))).toThrow(GatewayError);
  });

  test('SSE reader: does not count comments towards the event size', () => {
    const { events } = read(': waiting\n'.repeat(500), 'data: x\n\n');
    expect(events).toHaveLength(1);
  });

  test('SSE reader: reads the same events for any chunking', () => {
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

describe('formatSseEvent', () => {
  test('SSE event: writes all fields before the data', () => {
    expect(formatSseEvent({ data: '{}', event: 'message', id: '3', retryMs: 500 })).toBe(
      'event: message\nid: 3\nretry: 500\ndata: {}\n\n',
    );
  });

  test.each(['a\nb', 'a\r\nb', 'a\rb'])('SSE event: keeps the lines of %j in one event', (data) => {
    expect(read(formatSseEvent({ data })).events).toEqual([{ event: '', data: 'a\nb' }]);
  });
});
