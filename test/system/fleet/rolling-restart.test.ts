import { beforeAll, expect, test } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { startHttpFixture } from '../../support/fixture.ts';
import { sendRequest } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { startFleet } from './fleet.ts';
import { startHealthChecks } from './health-checks.ts';
import { startLoad } from './load.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const patience = { withinMs: 40_000 };

test('drain: fails readiness first and serves until the drain time ends', async () => {
  await using plain = await startHttpFixture('plain');
  await using fleet = await startFleet(1, {
    mcpServers: { plain: { url: plain.url } },
    config: { http: { drain: '3s' } },
  });
  const [gateway] = fleet.replicas;
  const at = (path: string) => sendRequest(new URL(path, gateway?.url));
  expect([(await at('/healthz')).status, (await at('/readyz')).status]).toEqual([200, 200]);
  gateway?.signal('SIGTERM');
  await eventually(async () => (await at('/readyz')).status === 503);
  expect((await at('/healthz')).status).toBe(200);
  await using client = await fleet.client({ era: 'modern' });
  expect(textOfResult(await client.callTool('plain__echo', { text: 'still here' }))).toBe('still here');
  expect(await gateway?.exited).toEqual({ code: 0, signal: null });
});

test('rolling restart: neither loses nor repeats a call', async () => {
  await using plain = await startHttpFixture('plain', ['--era', 'both']);
  await using fleet = await startFleet(3, {
    mcpServers: { plain: { url: plain.url } },
    config: { http: { drain: '1s' }, shutdown: '5s' },
  });
  await using _checks = startHealthChecks(fleet);
  const eras = ['legacy', 'modern', 'legacy', 'modern'] as const;
  const clients = await Promise.all(eras.map((era) => fleet.client({ era })));
  const load = startLoad(clients);
  for (const at of fleet.replicas.keys()) {
    const before = load.calls;
    await eventually(() => load.calls > before + 20, patience);
    await fleet.restart(at);
    await eventually(() => !fleet.balancer.excluded.has(at), patience);
  }
  expect(await load.end()).toEqual([]);
  expect(plain.log.of('call')).toHaveLength(load.calls);
});
