import { beforeAll, describe, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { startHttpFixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { startFleet } from './fleet.ts';
import type { RunningFleet } from './fleet.ts';
import { waitUntilListed } from './wait-until-listed.ts';
import { waitUntilStable } from './wait-until-stable.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const patience = { withinMs: 40_000 };
const uri = 'fixture://text';
const heard = (client: RawClient, method: string): number =>
  client.notifications.all.filter((told) => told.method === method).length;
const TOOLS = 'notifications/tools/list_changed';
const UPDATED = 'notifications/resources/updated';

/** Calls a tool until each gateway has received a call. */
async function everywhere(
  fleet: RunningFleet,
  client: RawClient,
  name: string,
  args: object,
): Promise<number> {
  const seen = new Set<number>();
  let calls = 0;
  while (seen.size < fleet.replicas.length) {
    await client.callTool(name, { ...args });
    calls++;
    seen.add(fleet.balancer.served.at(-1) ?? -1);
    if (calls > 30) throw new Error('The balancer does not go round.');
  }
  return calls;
}

/** Touches the resource until its client is notified, because a server may confirm a subscription later than the gateway does. */
async function untilHeard(client: RawClient): Promise<void> {
  const before = heard(client, UPDATED);
  await eventually(async () => {
    await client.callTool('plain__touch', { uri });
    return heard(client, UPDATED) > before;
  }, patience);
}

describe.each(['legacy', 'modern'] as const)('notifications to a %s client', (era) => {
  test('list change: reaches the client once, whichever gateway notices it', async () => {
    await using plain = await startHttpFixture('plain', ['--era', 'both']);
    await using fleet = await startFleet(3, { mcpServers: { plain: { url: plain.url, trust: 'scan' } } });
    const client = await fleet.client({ era });
    await waitUntilListed(fleet, 'plain__change-list');
    const { length } = await client.listTools();
    await client.listen();
    // The first notification may still be about the start.
    await client.callTool('plain__change-list', { add: 1, announce: 1 });
    await waitUntilListed(fleet, `plain__added-${length}`);
    await eventually(() => heard(client, TOOLS) > 0, patience);
    await waitUntilStable(() => heard(client, TOOLS));
    for (const index of [length + 1, length + 2, length + 3]) {
      const before = heard(client, TOOLS);
      await client.callTool('plain__change-list', { add: 1, announce: 1 });
      await waitUntilListed(fleet, `plain__added-${index}`);
      await eventually(() => heard(client, TOOLS) > before, patience);
      await waitUntilStable(() => heard(client, TOOLS));
      expect(heard(client, TOOLS)).toBe(before + 1);
    }
  });

  test('resource update: reaches the client once, whichever gateway it passes through', async () => {
    await using plain = await startHttpFixture('plain', ['--era', 'both']);
    await using fleet = await startFleet(3, { mcpServers: { plain: { url: plain.url } } });
    const client = await fleet.client({ era });
    await waitUntilListed(fleet, 'plain__touch');
    await client.listen([uri]);
    await untilHeard(client);
    // By now all gateways have subscribed to the resource.
    await everywhere(fleet, client, 'plain__touch', { uri });
    await waitUntilStable(() => heard(client, UPDATED));
    for (const _ of [0, 1, 2]) {
      const before = heard(client, UPDATED);
      await client.callTool('plain__touch', { uri });
      await eventually(() => heard(client, UPDATED) > before, patience);
      await waitUntilStable(() => heard(client, UPDATED));
      expect(heard(client, UPDATED)).toBe(before + 1);
    }
  });
});

test('session stream: continues with its subscriptions at another gateway after a kill', async () => {
  await using plain = await startHttpFixture('plain', ['--era', 'both']);
  await using fleet = await startFleet(3, { mcpServers: { plain: { url: plain.url } } });
  const client = await fleet.client();
  await waitUntilListed(fleet, 'plain__touch');
  await client.listen();
  const holder = fleet.balancer.served.at(-1) ?? 0;
  await client.request('resources/subscribe', { uri });
  await untilHeard(client);
  await fleet.replicas[holder]?.kill();
  // No remaining gateway knows what the client has received, so it is notified that the list may have changed.
  const before = heard(client, TOOLS);
  await client.listen();
  await eventually(() => heard(client, TOOLS) > before, patience);
  await untilHeard(client);
  await waitUntilStable(() => heard(client, UPDATED));
  const told = heard(client, UPDATED);
  await client.callTool('plain__touch', { uri });
  await eventually(() => heard(client, UPDATED) > told, patience);
  await waitUntilStable(() => heard(client, UPDATED));
  expect(heard(client, UPDATED)).toBe(told + 1);
});
