import fc from 'fast-check';
import { expect, test } from 'vitest';

import { decodeFrame, encodeFrame, parseFrameBody } from './frame.ts';

const toText = (encoded: ReturnType<typeof encodeFrame>): string =>
  typeof encoded === 'string' ? encoded : Buffer.concat(encoded).toString();

test('frame: round-trips every head and body as text and as bytes on one line', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), (head, value) => {
      const body = JSON.stringify(value);
      for (const encoded of [encodeFrame(head, body), encodeFrame(head, [Buffer.from(body)])]) {
        const text = toText(encoded);
        expect(text).not.toContain('\n');
        for (const decoded of [decodeFrame(text), decodeFrame(Buffer.from(text))]) {
          expect(decoded?.head).toEqual(JSON.parse(JSON.stringify(head)));
          expect(decoded?.body.toString()).toBe(body);
        }
      }
    }),
  );
});

test('frame: has an empty body when none is given', () => {
  const decoded = decodeFrame(toText(encodeFrame(['cancel', 1])));
  expect(decoded).toEqual({ head: ['cancel', 1], body: '' });
  expect(parseFrameBody(decoded!)).toBeUndefined();
});

test.each(['', 'hello', '{"a":1}\t{}', '[1', `["${'x'.repeat(300_000)}"]`, '\t{}'])(
  'frame: rejects %.20j',
  (line) => {
    expect(decodeFrame(line)).toBeUndefined();
    expect(decodeFrame(Buffer.from(line))).toBeUndefined();
  },
);
