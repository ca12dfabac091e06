import fc from 'fast-check';
import { expect, test } from 'vitest';

import { checkLeaks } from '../../support/leak-check.ts';
import { openMemoryTarget } from './memory-target.ts';
import { planOf } from './model.ts';
import { openProcessTarget } from './process-target.ts';
import { runTraffic } from './run-traffic.ts';
import { traffic } from './traffic.ts';
import type { TrafficTarget } from './traffic-target.ts';

checkLeaks();

/** To repeat a failure, set the seed of its title, the path in its error, and any number of runs. */
const { TRAFFIC_SEED, TRAFFIC_PATH, TRAFFIC_RUNS } = process.env;
const seed = Number(TRAFFIC_SEED ?? Math.floor(Math.random() * 2 ** 31));
const replay = { seed, ...(TRAFFIC_PATH === undefined ? {} : { path: TRAFFIC_PATH }) };

/** Each run has its own gateway, so that a failed run can be repeated alone. */
test.each([
  ['in this process, over every transport', () => openMemoryTarget(), 150],
  ['through real processes, over HTTP', () => openProcessTarget('http'), 4],
  ['through real processes, over a pipe', () => openProcessTarget('stdio'), 4],
] as [string, () => Promise<TrafficTarget>, number][])(
  `random traffic: has exactly the effects of the model %s (TRAFFIC_SEED=${seed})`,
  async (_where, open, numRuns) => {
    await fc.assert(
      fc.asyncProperty(traffic, async (actions) => {
        await using line = await open();
        const plan = planOf(actions, line.kinds);
        const problems = await runTraffic(line, plan);
        const sent = plan.map(({ client, text }) => `${client} ${text.slice(0, 300)}`);
        expect(problems, sent.join('\n')).toEqual([]);
      }),
      { ...replay, numRuns: TRAFFIC_RUNS === undefined ? numRuns : Number(TRAFFIC_RUNS) },
    );
  },
  600_000,
);
