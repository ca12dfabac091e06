import { beforeAll, describe, expect, test } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { startHttpFixture } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { sharedPostgres } from '../support/postgres.ts';
import type { RawClient } from '../support/raw-client.ts';
import { startFleet } from './fleet.ts';
import type { RunningFleet } from './fleet.ts';
import { listedEverywhere } from './listed-everywhere.ts';
import { quiet } from './quiet.ts';

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const patience = { withinMs: 40_000 };
const uri = 'fixture://text';
const heard = (client: RawClient, method: string): number =>
  client.notifications.all.filter((told) => told.method === method).length;
const TOOLS = 'notifications/tools/list_changed';
const UPDATED = 'notifications/resources/updated';

/** Calls a tool until each gateway has been the one that was called. */
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

/** Touches the resource until its client hears of it: a server may agree to tell a moment after a gateway has promised it. */
async function untilHeard(client: RawClient): Promise<void> {
  const before = heard(client, UPDATED);
  await eventually(async () => {
    await client.callTool('plain__touch', { uri });
    return heard(client, UPDATED) > before;
  }, patience);
}

describe.each(['legacy', 'modern'] as const)('a %s client hears, on the one stream that it has,', (era) => {
  test('that a list changed, once, whichever gateway noticed', async () => {
    await using plain = await startHttpFixture('plain', ['--era', 'both']);
    await using fleet = await startFleet(3, { mcpServers: { plain: { url: plain.url, trust: 'scan' } } });
    const client = await fleet.client({ era });
    await listedEverywhere(fleet, 'plain__change-list');
    const { length } = await client.listTools();
    await client.listen();
    // The first announcement may be a late one of what the start found.
    await client.callTool('plain__change-list', { add: 1, announce: 1 });
    await listedEverywhere(fleet, `plain__added-${length}`);
    await eventually(() => heard(client, TOOLS) > 0, patience);
    await quiet(() => heard(client, TOOLS));
    for (const index of [length + 1, length + 2, length + 3]) {
      const before = heard(client, TOOLS);
      await client.callTool('plain__change-list', { add: 1, announce: 1 });
      await listedEverywhere(fleet, `plain__added-${index}`);
      await eventually(() => heard(client, TOOLS) > before, patience);
      await quiet(() => heard(client, TOOLS));
      expect(heard(client, TOOLS)).toBe(before + 1);
    }
  }, 240_000);

  test('that a resource changed, once, through whichever gateway it was touched', async () => {
    await using plain = await startHttpFixture('plain', ['--era', 'both']);
    await using fleet = await startFleet(3, { mcpServers: { plain: { url: plain.url } } });
    const client = await fleet.client({ era });
    await listedEverywhere(fleet, 'plain__touch');
    await client.listen([uri]);
    await untilHeard(client);
    // All of them follow it by now, each in its own time.
    await everywhere(fleet, client, 'plain__touch', { uri });
    await quiet(() => heard(client, UPDATED));
    for (const _ of [0, 1, 2]) {
      const before = heard(client, UPDATED);
      await client.callTool('plain__touch', { uri });
      await eventually(() => heard(client, UPDATED) > before, patience);
      await quiet(() => heard(client, UPDATED));
      expect(heard(client, UPDATED)).toBe(before + 1);
    }
  }, 240_000);
});

test('when the gateway with the stream is killed, the next stream anywhere goes on with what was subscribed to', async () => {
  await using plain = await startHttpFixture('plain', ['--era', 'both']);
  await using fleet = await startFleet(3, { mcpServers: { plain: { url: plain.url } } });
  const client = await fleet.client();
  await listedEverywhere(fleet, 'plain__touch');
  await client.listen();
  const holder = fleet.balancer.served.at(-1) ?? 0;
  await client.request('resources/subscribe', { uri });
  await untilHeard(client);
  await fleet.replicas[holder]?.kill();
  // Nobody who is left can say what the client has heard, so that it is told to look.
  const before = heard(client, TOOLS);
  await client.listen();
  await eventually(() => heard(client, TOOLS) > before, patience);
  await untilHeard(client);
  await quiet(() => heard(client, UPDATED));
  const told = heard(client, UPDATED);
  await client.callTool('plain__touch', { uri });
  await eventually(() => heard(client, UPDATED) > told, patience);
  await quiet(() => heard(client, UPDATED));
  expect(heard(client, UPDATED)).toBe(told + 1);
}, 240_000);
