import { expect, test } from 'vitest';

import { besideTable } from './calls.mjs';
import { spread } from './noise.mjs';

test('comparison table: compares a peer with the direct connection of the same rounds', () => {
  const direct = [
    { p50: 1, callsPerSecond16: 100 },
    { p50: 10, callsPerSecond16: 10 },
    { p50: 2, callsPerSecond16: 100 },
  ];
  const rounds = {
    direct,
    floor: direct,
    peer: [{ p50: 3, callsPerSecond16: 20 }, {}, { p50: 4, callsPerSecond16: 40 }],
  };
  const { rows } = besideTable('stdio', rounds, []);
  expect(rows.find(({ name }) => name === 'peer')).toMatchObject({
    p50: 2.5,
    p50Added: 2,
    rate16: 30,
    rate16OfDirect: expect.closeTo(0.3, 9),
    cpu: undefined,
  });
});

test('noise: is the ratio of two equal subjects within a round', () => {
  const first = [
    { p50: 1, rate: 10 },
    { p50: 2, rate: 20 },
  ];
  const second = [
    { p50: 1, rate: 20 },
    { p50: 4, rate: 20 },
  ];
  expect(spread(first, second)).toMatchObject({
    p50: 1.5,
    p50Ratio: 1.5,
    p50Half: '1.25–1.75',
    rate: 15,
    rateRatio: 1.5,
  });
});
