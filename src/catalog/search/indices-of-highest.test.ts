import fc from 'fast-check';
import { expect, it } from 'vitest';

import { indicesOfHighest } from './indices-of-highest.ts';

it('highest: returns the same as sorting all values', () => {
  const value = fc.constantFrom(-1, 0, 0.25, 0.5, 1, 2, 3);
  fc.assert(
    fc.property(fc.array(value, { maxLength: 40 }), fc.nat(45), (values, count) => {
      const sorted = [...values.keys()]
        .filter((at) => (values[at] ?? 0) > 0)
        .sort((one, other) => (values[other] ?? 0) - (values[one] ?? 0) || one - other);
      expect(indicesOfHighest(Float64Array.from(values), count)).toEqual(sorted.slice(0, count));
    }),
  );
});
