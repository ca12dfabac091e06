import fc from 'fast-check';
import { expect, test } from 'vitest';

import { Numbered } from './numbered.ts';

test('gives out larger and larger numbers, and knows what was set under each until it is deleted', () => {
  const steps = fc.array(fc.option(fc.nat(200), { nil: undefined }), { maxLength: 400 });
  fc.assert(
    fc.property(steps, (history) => {
      const numbered = new Numbered<string>();
      const expected = new Map<number, string>();
      let last = 0;
      for (const deleted of history) {
        if (deleted === undefined) {
          const number = numbered.next();
          expect(number).toBeGreaterThan(last);
          last = number;
          numbered.set(number, `value ${number}`);
          expected.set(number, `value ${number}`);
        } else {
          const number = [...expected.keys()][deleted % Math.max(1, expected.size)] ?? 1_000_000;
          numbered.delete(number);
          expected.delete(number);
        }
        expect(numbered.size).toBe(expected.size);
      }
      expect(numbered.entries()).toEqual([...expected]);
      for (let number = 0; number <= last; number++) expect(numbered.get(number)).toBe(expected.get(number));
    }),
  );
});

test('one that stays for very long is in the way of no other', () => {
  const numbered = new Numbered<string>();
  const first = numbered.next();
  numbered.set(first, 'first');
  for (let at = 0; at < 1000; at++) {
    const number = numbered.next();
    numbered.set(number, 'other');
    numbered.delete(number);
  }
  expect(numbered.entries()).toEqual([[first, 'first']]);
});

test('a number that was never given is unknown, whichever place it would have', () => {
  const numbered = new Numbered<string>();
  const number = numbered.next();
  numbered.set(number, 'value');
  for (const other of [number + 32, number - 32, -1, 0, 0.5, Number.MAX_SAFE_INTEGER, Number.NaN]) {
    expect(numbered.get(other)).toBeUndefined();
    numbered.delete(other);
  }
  expect(numbered.size).toBe(1);
});
