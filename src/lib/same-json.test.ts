import fc from 'fast-check';
import { expect, test } from 'vitest';

import { canonicalJson } from './canonical-json.ts';
import { isSameJson } from './same-json.ts';

test('is true exactly where the canonical texts are the same', () => {
  // Few letters and numbers, so that equal values are drawn as well.
  const key = fc.constantFrom('a', 'b', '__proto__', '10');
  const { value: json } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, true, false, 0, 1, '', '1', 'a'),
      fc.array(tie('value'), { maxLength: 2 }),
      fc
        .array(fc.tuple(key, tie('value')), { maxLength: 2 })
        .map((members) => JSON.parse(JSON.stringify(Object.fromEntries(members))) as unknown),
    ),
  }));
  fc.assert(
    fc.property(json, json, (one, other) => {
      expect(isSameJson(one, other)).toBe(canonicalJson(one) === canonicalJson(other));
      expect(isSameJson(one, JSON.parse(JSON.stringify(one)))).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test('takes no heed of the order of keys', () => {
  expect(isSameJson({ a: 1, b: [{ c: 1, d: 2 }] }, { b: [{ d: 2, c: 1 }], a: 1 })).toBe(true);
});

test.each([
  [{ a: 1 }, { b: 1 }],
  [{ toString: 1 }, { a: 1 }],
  [[], {}],
  [[1], [1, 2]],
  [null, {}],
  ['1', 1],
])('tells %j from %j', (one, other) => {
  expect(isSameJson(one, other)).toBe(false);
  expect(isSameJson(other, one)).toBe(false);
});
