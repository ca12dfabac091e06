import { expect, test } from 'vitest';

import { SoakClient } from '../clients/soak-client.ts';
import type { Scene } from '../faults/fault.ts';
import { Ledger } from '../ledger.ts';
import { connectIncorrectGateway } from '../incorrect-gateway.ts';
import { Random } from '../random.ts';
import type { Stage } from '../stage/stage.ts';
import { checkRecovery } from './recovery.ts';

test('recovery check: reports a server that does not recover or answers wrongly', async () => {
  const ledger = new Ledger(() => {});
  // The parts of a stage that a single client of the standalone gateway uses.
  const stage = {
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
  } as unknown as Stage;
  const kind = { name: 'alone', way: 'alone', era: 'legacy' } as const;
  const client = new SoakClient(kind, { stage, ledger, random: new Random(1) });
  await client.open();
  const scene: Scene = { stage, clients: [client] };
  await checkRecovery(scene, 500);
  await client.close();
  expect(ledger.violations.toSorted()).toEqual([
    expect.stringMatching(/^misbehaving did not recover within 500 ms: UPSTREAM_UNAVAILABLE/),
    expect.stringMatching(/^odd did not recover within 500 ms: ok not /),
  ]);
});
