import fc from 'fast-check';
import { expect, test } from 'vitest';

import { bodyOf, frame, readFrame } from './frame.ts';

const written = (line: ReturnType<typeof frame>): string =>
  typeof line === 'string' ? line : Buffer.concat(line).toString();

test('gives back every head and every body as it was, as text and as bytes, on one line', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), (head, value) => {
      const body = JSON.stringify(value);
      for (const line of [frame(head, body), frame(head, [Buffer.from(body)])]) {
        const text = written(line);
        expect(text).not.toContain('\n');
        for (const read of [readFrame(text), readFrame(Buffer.from(text))]) {
          expect(read?.head).toEqual(JSON.parse(JSON.stringify(head)));
          expect(read?.body.toString()).toBe(body);
        }
      }
    }),
  );
});

test('a frame without a body has an empty one', () => {
  const read = readFrame(written(frame(['cancel', 1])));
  expect(read).toEqual({ head: ['cancel', 1], body: '' });
  expect(bodyOf(read!)).toBeUndefined();
});

test.each(['', 'hello', '{"a":1}\t{}', '[1', `["${'x'.repeat(300_000)}"]`, '\t{}'])(
  '%.20j is none',
  (line) => {
    expect(readFrame(line)).toBeUndefined();
    expect(readFrame(Buffer.from(line))).toBeUndefined();
  },
);
