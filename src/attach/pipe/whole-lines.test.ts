import { describe, expect, test } from 'vitest';

import { answeredId, WholeLines } from './whole-lines.ts';

/** What is passed on when the text comes in pieces of this size. */
function passed(
  text: string,
  size: number,
  keeps: (line: string) => boolean = () => true,
): readonly string[] {
  const all: string[] = [];
  const lines = new WholeLines({
    keeps: (line) => keeps(Buffer.concat(line).toString()),
    pass: (bytes) => all.push(bytes.toString('latin1')),
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) lines.push(bytes.subarray(at, at + size));
  return all;
}

describe('whole lines', () => {
  const text = 'one\ntwo – ü\n\nthree\n';
  const sizes = Array.from({ length: Buffer.byteLength(text) }, (_, at) => at + 1);

  test('come out as they went in, however they were cut', () => {
    for (const size of sizes)
      expect(Buffer.from(passed(text, size).join(''), 'latin1').toString()).toBe(text);
  });

  test('that came together go on together', () => {
    expect(passed('a\nb\nc\n', 100)).toEqual(['a\nb\nc\n']);
  });

  test('that are kept back leave no trace', () => {
    for (const size of sizes)
      expect(passed('a\nhidden\nb\nhidden\n', size, (line) => line !== 'hidden\n').join('')).toBe('a\nb\n');
  });

  test('of which the last is not whole keep it back', () => {
    expect(passed('a\nb', 100)).toEqual(['a\n']);
  });
});

describe('the id of an answer', () => {
  test.each([
    ['{"jsonrpc":"2.0","id":7,"result":{}}\n', '7'],
    ['{"jsonrpc":"2.0","id":-1,"error":{}}\n', '-1'],
    ['{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}\n', '12345678901234567890'],
    ['{"jsonrpc":"2.0","id":"a,\\"b","result":{}}\n', '"a,\\"b"'],
    ['{"jsonrpc":"2.0","id":7,"method":"ping"}\n', undefined],
    ['{"jsonrpc":"2.0","method":"notifications/x"}\n', undefined],
    ['{"jsonrpc":"2.0","id":"never ends\n', undefined],
    ['{}\n', undefined],
  ])('in %s is %s', (line, id) => {
    expect(answeredId([Buffer.from(line)])).toBe(id);
    const bytes = Buffer.from(line);
    expect(answeredId([bytes.subarray(0, 25), bytes.subarray(25)])).toBe(id);
    expect(answeredId([...bytes].map((byte) => Buffer.of(byte)))).toBe(id);
  });
});
