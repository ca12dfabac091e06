import { expect, test } from 'vitest';

import { SoakClient } from '../clients/soak-client.ts';
import type { FaultTargets } from '../faults/fault.ts';
import { RequestTracker } from '../request-tracker.ts';
import { connectIncorrectGateway } from '../incorrect-gateway.ts';
import { Random } from '../random.ts';
import type { SoakEnvironment } from '../environment/soak-environment.ts';
import { checkRecovery } from './check-recovery.ts';

test('recovery check: reports a server that does not recover or answers wrongly', async () => {
  const tracker = new RequestTracker(() => {});
  // The parts of a environment that a single client of the standalone gateway uses.
  const environment = {
    guarded: { pid: process.pid },
    faultTargets: {},
    alone: { steady: {}, misbehaving: {}, odd: {} },
    standalone: {
      client: connectIncorrectGateway(({ id, params, tag }) => {
        const { name } = params;
        if (name === 'misbehaving__do')
          return [
            {
              id,
              result: { content: [], isError: true, _meta: { 'trunkline/code': 'UPSTREAM_UNAVAILABLE' } },
            },
          ];
        return name === 'odd__do'
          ? [{ id, result: { content: [{ type: 'text', text: `not ${tag}` }] } }]
          : undefined;
      }),
    },
  } as unknown as SoakEnvironment;
  const kind = { name: 'alone', way: 'alone', era: 'legacy' } as const;
  const client = new SoakClient(kind, { environment, tracker, random: new Random(1) });
  await client.open();
  const targets: FaultTargets = { environment, clients: [client] };
  await checkRecovery(targets, 500);
  await client.close();
  expect(tracker.violations.toSorted()).toEqual([
    expect.stringMatching(/^misbehaving did not recover within 500 ms: UPSTREAM_UNAVAILABLE/),
    expect.stringMatching(/^odd did not recover within 500 ms: ok not /),
  ]);
});
