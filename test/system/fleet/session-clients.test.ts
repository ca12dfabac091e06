import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, test } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { RawClient } from '../../support/raw-client.ts';
import { sseTransport } from '../../support/raw-transports.ts';
import { sdkV1Client, sdkV2Client } from '../../support/sdk-clients.ts';
import { unusedPort } from '../../support/unused-port.mjs';
import { startFleet } from './fleet.ts';
import { waitUntilListed } from './wait-until-listed.ts';
import { waitUntilStable } from './wait-until-stable.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const patience = { withinMs: 40_000 };
const uri = 'fixture://text';

describe('balancer without sticky sessions', () => {
  test('SDK client: keeps working while every gateway restarts', async () => {
    await using fleet = await startFleet(3, {
      mcpServers: { plain: { ...fixture('plain'), trust: 'scan' }, it: fixture('asks-the-user') },
    });
    const client = await sdkV1Client({ url: fleet.url }, { elicitation: {} });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Anna' } }));
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    const use = async (): Promise<void> => {
      for (const text of ['a', 'b', 'c']) {
        expect((await client.listTools()).tools.map(({ name }) => name)).toContain('it__ask-form');
        const echo = await client.callTool({ name: 'plain__echo', arguments: { text } });
        expect(echo.content).toMatchObject([{ text }]);
        const asked = await client.callTool({ name: 'it__ask-form', arguments: { mark: text } });
        expect(JSON.stringify(asked.content)).toContain('Anna');
      }
    };
    await use();
    for (const replica of [0, 1, 2]) {
      await fleet.restart(replica);
      await use();
    }
    const before = changes;
    await client.callTool({ name: 'plain__change-list', arguments: { add: 1, announce: 1 } });
    await eventually(() => changes > before, patience);
    await client.close();
  });

  test('modern SDK client: works without a session', async () => {
    await using fleet = await startFleet(2, { mcpServers: { plain: fixture('plain') } });
    const client = await sdkV2Client({ url: fleet.url }, { era: 'modern' });
    for (const text of ['a', 'b', 'c', 'd']) {
      const echo = await client.callTool({ name: 'plain__echo', arguments: { text } });
      expect(echo.content).toMatchObject([{ text }]);
    }
    await client.close();
  });

  test('HTTP+SSE client: sends to any gateway and reads from its one stream', async () => {
    await using fleet = await startFleet(3, { mcpServers: { it: fixture('asks-the-user') } });
    await using client = await RawClient.over(sseTransport(new URL('/sse', fleet.url).href), {
      version: '2024-11-05',
      capabilities: { elicitation: {} },
    });
    client.answers('elicitation/create', () => ({ action: 'accept', content: { name: 'Anna' } }));
    await client.open();
    for (const mark of ['a', 'b', 'c'])
      expect(textOfResult(await client.callTool('it__ask-form', { mark }))).toContain('Anna');
    expect(new Set(fleet.balancer.served).size).toBe(3);
  });

  test.each(['legacy', 'modern'] as const)(
    'resource update: reaches a %s client once from the process of any gateway',
    async (era) => {
      await using fleet = await startFleet(3, { mcpServers: { plain: fixture('plain') } });
      const client = await fleet.client({ era });
      await waitUntilListed(fleet, 'plain__touch');
      await client.listen([uri]);
      const heard = (): number =>
        client.notifications.all.filter(({ method }) => method === 'notifications/resources/updated').length;
      const seen = new Set<number>();
      const touched = async (): Promise<void> => {
        const told = heard();
        await client.callTool('plain__touch', { uri });
        await eventually(() => heard() > told, patience);
        seen.add(fleet.balancer.served.at(-1) ?? -1);
      };
      // The gateway confirms the subscription of a modern client at once; updates arrive when the servers have confirmed it too.
      await eventually(async () => {
        await client.callTool('plain__touch', { uri });
        return heard() >= 3;
      }, patience);
      await waitUntilStable(heard);
      const before = heard();
      let touches = 0;
      for (; seen.size < 3; touches++) await touched();
      await waitUntilStable(heard);
      expect(heard() - before).toBe(touches);
    },
  );
});

describe('single gateway with SQLite', () => {
  test('session: survives a restart of a single gateway together with its settings', async () => {
    const config = { http: { address: `127.0.0.1:${await unusedPort()}` } };
    const options = { mcpServers: { plain: fixture('plain') }, listen: 'configured', config } as const;
    await using first = await startGateway(options);
    const { home } = first;
    await using client = await first.client();
    await waitForTool(client, 'plain__echo');
    await client.request('logging/setLevel', { level: 'error' });
    await client.listen([uri]);
    expect(textOfResult(await client.callTool('plain__echo', { text: 'before' }))).toBe('before');
    await first.stop();
    await using _second = await startGateway({ ...options, home });
    expect(textOfResult(await client.callTool('plain__echo', { text: 'after' }))).toBe('after');
    const news = client.notifications.next(({ method }) => method === 'notifications/resources/updated');
    // The client is notified of possible changes that happened while the gateway was down.
    const changed = client.notifications.next(({ method }) => method.endsWith('tools/list_changed'));
    await client.listen();
    await changed;
    await client.callTool('plain__touch', { uri });
    expect((await news).params).toMatchObject({ uri });
  });
});
