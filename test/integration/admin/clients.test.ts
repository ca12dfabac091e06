import { expect, test } from 'vitest';

import type { AdminClients } from '../../../src/admin/contract/contract.ts';
import { openSignedInBrowser } from '../../support/dashboard-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';

test('clients: lists who is connected with protocol, exposure and calls, and reports who connects and leaves', async () => {
  await using gateway = await startGateway({
    mcpServers: { files: fixture('plain') },
    listen: 'http',
    args: ['--expose', 'search'],
  });
  const browser = await openSignedInBrowser(gateway);
  const read = async (): Promise<AdminClients> =>
    (await browser.fetch('GET', '/api/clients')).json as AdminClients;
  expect(await read()).toEqual({ clients: [], total: 0, missing: [] });
  using log = await browser.events();
  await log.of('hello');
  const legacy = await gateway.client({ era: 'legacy' });
  await legacy.request('tools/call', { name: 'search_tools', arguments: { query: 'echo' } });
  await log.of('clients', ({ total }: { total: number }) => total === 1);
  const modern = await gateway.client({ era: 'modern' });
  await modern.request('tools/list');
  const { clients } = await read();
  expect(clients.map(({ protocol, hasSession }) => [protocol, hasSession])).toEqual([
    ['2026-07-28', false],
    ['2025-11-25', true],
  ]);
  expect(clients[0]).toMatchObject({ calls: 0, exposure: 'search' });
  const { id: _, ...known } = clients[1]!;
  expect(known).toMatchObject({
    name: expect.any(String),
    transport: 'http',
    caller: 'local',
    profile: 'default',
    exposure: 'search',
    calls: 1,
  });
  expect(known.usedAt).toBeGreaterThanOrEqual(known.since);
  await legacy.close();
  await eventually(async () => (await read()).total === 1);
  await modern.close();
});
