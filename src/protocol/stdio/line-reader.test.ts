import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { cpuStopwatch } from '../../../test/support/cpu-time.ts';
import { LineReader } from './line-reader.ts';

interface Seen {
  readonly lines: string[];
  tooLong: number;
}

function read(chunks: readonly Uint8Array[], maxBytes = 1000): Seen {
  const seen: Seen = { lines: [], tooLong: 0 };
  const reader = new LineReader({
    maxBytes,
    onLine: (line) => seen.lines.push(line.toString()),
    onTooLong: () => seen.tooLong++,
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return seen;
}

/** Bytes that are rich in line ends and in characters of several bytes, whole and broken. */
const bytes = fc
  .array(
    fc.oneof(
      fc
        .constantFrom('\n', '\n', '\r\n', '\r', '{"a":1}', 'ü', '€', '😀', '\u2028')
        .map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 6 }),
    ),
    { maxLength: 20 },
  )
  .map((parts) => Buffer.concat(parts));

describe('LineReader', () => {
  test('line reader: returns lines without line breaks and skips empty ones', () => {
    expect(read([Buffer.from('a\nb\r\n\n\r\nc\n')]).lines).toEqual(['a', 'b', 'c']);
  });

  test('line reader: returns a last line without a line break', () => {
    expect(read([Buffer.from('a\nb')]).lines).toEqual(['a', 'b']);
  });

  test('line reader: returns the same lines for any chunking and decodes each separately', () => {
    fc.assert(
      fc.property(
        bytes,
        fc.array(fc.nat()),
        fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(1000)),
        (whole, cuts, maxBytes) => {
          const seen = read(cut(whole, cuts), maxBytes);
          expect(seen).toEqual(read([whole], maxBytes));
          const lines = split(whole);
          expect(seen.lines).toEqual(
            lines.filter((line) => line.length <= maxBytes).map((line) => line.toString('utf8')),
          );
          expect(seen.tooLong).toBe(lines.filter((line) => line.length > maxBytes).length);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('line reader: accepts a line of exactly the limit', () => {
    expect(read([Buffer.from('12345\r'), Buffer.from('\n6\n')], 5)).toEqual({
      lines: ['12345', '6'],
      tooLong: 0,
    });
  });

  test('line reader: reports a line that is too long once and continues', () => {
    const long = Array.from({ length: 100 }, () => Buffer.from('x'.repeat(10)));
    expect(read([...long, Buffer.from('x\nshort\n')], 10)).toEqual({ lines: ['short'], tooLong: 1 });
  });

  test('line reader: assembles a line of 8 MB from chunks of 1 kB in linear time', () => {
    const piece = Buffer.alloc(1024, 'x');
    const lines: string[] = [];
    const framing = new LineReader({
      maxBytes: 1 << 30,
      onLine: (line) => lines.push(line.toString()),
      onTooLong: () => {},
    });
    const cpuMs = cpuStopwatch();
    for (let at = 0; at < 8000; at++) framing.push(piece);
    framing.push(Buffer.from('\n'));
    expect(lines[0]).toHaveLength(8000 * 1024);
    // It takes some 10 ms; joining with every chunk would copy 32 GB.
    expect(cpuMs()).toBeLessThan(1000);
  });
});

function cut(whole: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const places = [...new Set(cuts.map((at) => at % (whole.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...places].map((from, at) => whole.subarray(from, places[at] ?? whole.length));
}

/** The definition: line feeds divide, one carriage return before them belongs to them, empty lines are nothing. */
function split(whole: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from <= whole.length;) {
    const found = whole.indexOf(10, from);
    const to = found < 0 ? whole.length : found;
    lines.push(whole.subarray(from, to > from && whole[to - 1] === 13 ? to - 1 : to));
    from = to + 1;
  }
  return lines.filter((line) => line.length > 0);
}
