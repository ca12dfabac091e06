import { expect, test } from 'vitest';

import { fleetFacts, fleetRows } from './rows.mjs';

const asked = { record: 14, batches: 2, beat: 1, upkeep: 1, other: 0 };
const file = {
  name: 'file',
  rounds: [
    { old: { calls: 10, rate: 100, cpu: 10 }, new: { calls: 10, rate: 200, cpu: 10 } },
    { old: { calls: 10, rate: 50, cpu: 20 }, new: { calls: 10, rate: 100, cpu: 20 } },
  ],
};
const server = {
  name: 'server',
  rounds: [
    {
      old: { calls: 100, rate: 80, cpu: 11, databaseCpu: 3, asked },
      new: { calls: 100, rate: 200, cpu: 11, databaseCpu: 3, asked },
    },
    {
      old: { calls: 300, rate: 60, cpu: 22, databaseCpu: 5, asked: { ...asked, other: 2 } },
      new: { calls: 300, rate: 100, cpu: 22, databaseCpu: 5, asked },
    },
  ],
};

test('fleet rows: compare within a round and count statements over all rounds', () => {
  const rows = fleetRows([file, server], ['old', 'new']);
  expect(rows.map(({ name }) => name)).toEqual(['file, old', 'file, new', 'server, old', 'server, new']);
  expect(rows[0]).toEqual({
    name: 'file, old',
    rate: 75,
    cpu: 15,
    rateOfFirst: undefined,
    cpuOfFirst: undefined,
    databaseCpu: undefined,
  });
  expect(rows[2]).toMatchObject({
    rateOfFirst: expect.closeTo(1, 9),
    cpuOfFirst: expect.closeTo(1.1, 9),
    databaseCpu: 4,
    batches: 10,
    record: 70,
    clock: 10,
    other: 5,
  });
});

test('fleet facts: cover both eras and all statements caused by calls', () => {
  expect(fleetFacts([file, server], ['old', 'new'])).toEqual({
    rateOfFile: 1,
    cpuOfFile: expect.closeTo(1.1, 9),
    calls: 800,
    others: 2,
  });
});

test('fleet rows: omit CPU without /proc and keep the rest', () => {
  const without = ({ name, rounds }) => ({
    name,
    rounds: rounds.map(({ old }) => ({ old: { ...old, cpu: undefined, databaseCpu: undefined } })),
  });
  const [, row] = fleetRows([without(file), without(server)], ['old']);
  expect(row).toMatchObject({ rate: 70, cpu: undefined, cpuOfFirst: undefined, record: 70 });
});
