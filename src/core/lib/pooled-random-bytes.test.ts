import { expect, test } from 'vitest';

import { pooledRandomBytes } from './pooled-random-bytes.ts';

test('random bytes: differ on every call, also across pool refills', () => {
  const pieces = Array.from({ length: 2000 }, () => pooledRandomBytes(12).toString('hex'));
  expect(new Set(pieces).size).toBe(2000);
  expect(pieces.every((piece) => piece.length === 24)).toBe(true);
  expect(pooledRandomBytes(10_000)).toHaveLength(10_000);
  expect(pooledRandomBytes(5)).not.toEqual(pooledRandomBytes(5));
});
