import { expect, test } from 'vitest';

import type { AdminStatus } from '../../../src/admin/contract/contract.ts';
import { createApi } from '../api/api.ts';
import { applyEvent } from './apply-event.ts';
import { createResources } from './resources.ts';

const status: AdminStatus = {
  version: '',
  pid: 1,
  since: 0,
  kind: 'http',
  config: '',
  clients: 0,
  warnings: [],
  tools: 0,
  held: { servers: 0, entries: 0, calls: 0 },
  servers: [],
};

test('live status: shows the start and the end of a pause immediately', async () => {
  const fetch = async (): Promise<Response> => Response.json(status);
  const resources = createResources(createApi({ fetch, onSignedOut: () => {} }));
  await resources.status.load();
  const tick = { at: 9, clients: 2, inFlight: 0, records: 0 };
  const applyTick = (data: typeof tick & { readonly pausedSince?: number }): AdminStatus | undefined => {
    applyEvent({ event: 'tick', data }, resources, () => {});
    return resources.status.value.value;
  };
  expect(applyTick({ ...tick, pausedSince: 7 })).toEqual({ ...status, clients: 2, pausedSince: 7 });
  expect(applyTick(tick)).toEqual({ ...status, clients: 2 });
});
