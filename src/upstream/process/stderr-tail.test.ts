import { describe, expect, test } from 'vitest';

import { StderrTail } from './stderr-tail.ts';

function tailOf(...chunks: readonly (string | Buffer)[]): StderrTail {
  const tail = new StderrTail({ maxLines: 3, maxChars: 10 });
  for (const chunk of chunks) tail.push(Buffer.from(chunk));
  return tail;
}

describe('StderrTail', () => {
  test('stderr tail: keeps the last lines, including an unfinished one', () => {
    expect(tailOf('a\nb\n', 'c\nd\n').lines).toEqual(['b', 'c', 'd']);
    expect(tailOf('a\nb\nc\nunfin', 'ished').lines).toEqual(['b', 'c', 'unfinished']);
  });

  test('stderr tail: joins lines and characters split across chunks', () => {
    const euro = Buffer.from('€');
    expect(tailOf('a', 'b', '\n').lines).toEqual(['ab']);
    expect(tailOf(euro.subarray(0, 1), euro.subarray(1), '\n').lines).toEqual(['€']);
  });

  test('stderr tail: skips empty lines and truncates long ones', () => {
    expect(tailOf('\n  \n\r\n', '0123456789abc\n').lines).toEqual(['0123456789']);
  });

  test('stderr tail: strips control characters and escape sequences', () => {
    expect(tailOf('\u001b[31mred\u001b[0m\u0007\u009b1m\n').lines).toEqual(['red1m']);
    expect(tailOf('\u001b[2Jx').lines).toEqual(['x']);
  });

  test('stderr tail: stays small under a flood with or without line breaks', () => {
    const tail = tailOf('x'.repeat(1_000_000), `\n${'y\n'.repeat(1_000_000)}`, 'z'.repeat(1_000_000));
    expect(tail.lines).toEqual(['y', 'y', 'z'.repeat(10)]);
  });

  test('stderr tail: returns a snapshot', () => {
    const tail = tailOf('a\n');
    const { lines } = tail;
    tail.push(Buffer.from('b\n'));
    expect(lines).toEqual(['a']);
  });
});
