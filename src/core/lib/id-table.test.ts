import fc from 'fast-check';
import { expect, test } from 'vitest';

import { IdTable } from './id-table.ts';

test('id table: assigns increasing ids and keeps each value until it is deleted', () => {
  const steps = fc.array(fc.option(fc.nat(200), { nil: undefined }), { maxLength: 400 });
  fc.assert(
    fc.property(steps, (history) => {
      const numbered = new IdTable<string>();
      const expected = new Map<number, string>();
      let last = 0;
      for (const deleted of history) {
        if (deleted === undefined) {
          const number = numbered.assignId();
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

test('id table: keeps a long-lived entry while 1,000 others come and go', () => {
  const numbered = new IdTable<string>();
  const first = numbered.assignId();
  numbered.set(first, 'first');
  for (let at = 0; at < 1000; at++) {
    const number = numbered.assignId();
    numbered.set(number, 'other');
    expect([numbered.get(first), numbered.get(number), numbered.size]).toEqual(['first', 'other', 2]);
    numbered.delete(number);
    expect([numbered.get(first), numbered.get(number), numbered.size]).toEqual(['first', undefined, 1]);
  }
  expect(numbered.entries()).toEqual([[first, 'first']]);
});

test('id table: returns undefined for ids that were never assigned', () => {
  const numbered = new IdTable<string>();
  const number = numbered.assignId();
  numbered.set(number, 'value');
  for (const other of [number + 32, number - 32, -1, 0, 0.5, Number.MAX_SAFE_INTEGER, Number.NaN]) {
    expect(numbered.get(other)).toBeUndefined();
    numbered.delete(other);
  }
  expect([numbered.get(number), numbered.size]).toEqual(['value', 1]);
});
