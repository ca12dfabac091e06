import fc from 'fast-check';
import { expect, test } from 'vitest';

import { canonicalJson } from './canonical-json.ts';
import { isEqualJson } from './is-equal-json.ts';

test('JSON equality: holds exactly when the canonical texts are equal', () => {
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
      expect(isEqualJson(one, other)).toBe(canonicalJson(one) === canonicalJson(other));
      expect(isEqualJson(one, JSON.parse(JSON.stringify(one)))).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test('JSON equality: ignores the order of keys', () => {
  expect(isEqualJson({ a: 1, b: [{ c: 1, d: 2 }] }, { b: [{ d: 2, c: 1 }], a: 1 })).toBe(true);
});

test.each([
  [{ a: 1 }, { b: 1 }],
  [{ toString: 1 }, { a: 1 }],
  [[], {}],
  [[1], [1, 2]],
  [null, {}],
  ['1', 1],
])('JSON equality: distinguishes %j from %j', (one, other) => {
  expect(isEqualJson(one, other)).toBe(false);
  expect(isEqualJson(other, one)).toBe(false);
});
