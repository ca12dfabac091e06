import { expect, test } from 'vitest';

import { randomPiece } from './random-piece.ts';

test('no piece is given twice, also where one does not fit into what is left', () => {
  const pieces = Array.from({ length: 2000 }, () => randomPiece(12).toString('hex'));
  expect(new Set(pieces).size).toBe(2000);
  expect(pieces.every((piece) => piece.length === 24)).toBe(true);
  expect(randomPiece(10_000)).toHaveLength(10_000);
  expect(randomPiece(5)).not.toEqual(randomPiece(5));
});
