import { expect, test } from 'vitest';

import type { AdminStatus } from '../../../src/admin/contract/contract.ts';
import { makeApi } from '../api/api.ts';
import { applyEvent } from './apply-event.ts';
import { resourcesOf } from './resources.ts';

const status: AdminStatus = {
  ...{ version: '', pid: 1, since: 0, kind: 'http', config: '', clients: 0, warnings: [], tools: 0 },
  ...{ held: { servers: 0, entries: 0, calls: 0 }, servers: [] },
};

test('a pause that begins or ends while the page is open is known at once', async () => {
  const fetch = async (): Promise<Response> => Response.json(status);
  const resources = resourcesOf(makeApi({ fetch, onSignedOut: () => {} }));
  await resources.status.load();
  const tick = { at: 9, clients: 2, inFlight: 0, records: 0 };
  const applied = (data: typeof tick & { readonly pausedSince?: number }): AdminStatus | undefined => {
    applyEvent({ event: 'tick', data }, resources, () => {});
    return resources.status.value.value;
  };
  expect(applied({ ...tick, pausedSince: 7 })).toEqual({ ...status, clients: 2, pausedSince: 7 });
  expect(applied(tick)).toEqual({ ...status, clients: 2 });
});
