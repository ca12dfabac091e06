import { describe, expect, test } from 'vitest';

import { readResponseId, LineFilter } from './line-filter.ts';

/** Returns the forwarded chunks when the text arrives in chunks of `size` bytes. */
function filterInChunks(
  text: string,
  size: number,
  shouldForward: (line: string) => boolean = () => true,
): readonly string[] {
  const forwarded: string[] = [];
  const filter = new LineFilter({
    shouldForward: (line) => shouldForward(Buffer.concat(line).toString()),
    forward: (bytes) => forwarded.push(bytes.toString('latin1')),
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) filter.push(bytes.subarray(at, at + size));
  return forwarded;
}

describe('line filter', () => {
  const text = 'one\ntwo – ü\n\nthree\n';
  const sizes = Array.from({ length: Buffer.byteLength(text) }, (_, at) => at + 1);

  test('line filter: forwards text unchanged however it is chunked', () => {
    for (const size of sizes)
      expect(Buffer.from(filterInChunks(text, size).join(''), 'latin1').toString()).toBe(text);
  });

  test('line filter: forwards lines together that arrive together', () => {
    expect(filterInChunks('a\nb\nc\n', 100)).toEqual(['a\nb\nc\n']);
  });

  test('line filter: drops rejected lines entirely', () => {
    for (const size of sizes)
      expect(filterInChunks('a\nhidden\nb\nhidden\n', size, (line) => line !== 'hidden\n').join('')).toBe(
        'a\nb\n',
      );
  });

  test('line filter: holds an incomplete last line back', () => {
    expect(filterInChunks('a\nb', 100)).toEqual(['a\n']);
  });
});

describe('response id', () => {
  test.each([
    ['{"jsonrpc":"2.0","id":7,"result":{}}\n', '7'],
    ['{"jsonrpc":"2.0","id":-1,"error":{}}\n', '-1'],
    ['{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}\n', '12345678901234567890'],
    ['{"jsonrpc":"2.0","id":"a,\\"b","result":{}}\n', '"a,\\"b"'],
    ['{"jsonrpc":"2.0","id":7,"method":"ping"}\n', undefined],
    ['{"jsonrpc":"2.0","method":"notifications/x"}\n', undefined],
    ['{"jsonrpc":"2.0","id":"never ends\n', undefined],
    ['{}\n', undefined],
  ])('response id: of %j is %s', (line, id) => {
    expect(readResponseId([Buffer.from(line)])).toBe(id);
    const bytes = Buffer.from(line);
    expect(readResponseId([bytes.subarray(0, 25), bytes.subarray(25)])).toBe(id);
    expect(readResponseId([...bytes].map((byte) => Buffer.of(byte)))).toBe(id);
  });
});
