import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, test } from 'vitest';

import { said, untilListed } from '../support/asking.ts';
import { eventually } from '../support/eventually.ts';
import { fixture } from '../support/fixture.ts';
import { startGateway } from '../support/gateway.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { sharedPostgres } from '../support/postgres.ts';
import { RawClient } from '../support/raw-client.ts';
import { sseTransport } from '../support/raw-transports.ts';
import { sdkV1Client, sdkV2Client } from '../support/sdk-clients.ts';
import { unusedPort } from '../support/unused-port.mjs';
import { startFleet } from './fleet.ts';
import { listedEverywhere } from './listed-everywhere.ts';
import { quiet } from './quiet.ts';

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const patience = { withinMs: 40_000 };
const uri = 'fixture://text';

describe('through a balancer without stickiness', () => {
  test('a client of the SDK lists, calls, answers questions and hears of changes, over restarts of every gateway', async () => {
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
  }, 240_000);

  test('a client of the newest SDK has no session and misses none', async () => {
    await using fleet = await startFleet(2, { mcpServers: { plain: fixture('plain') } });
    const client = await sdkV2Client({ url: fleet.url }, { era: 'modern' });
    for (const text of ['a', 'b', 'c', 'd']) {
      const echo = await client.callTool({ name: 'plain__echo', arguments: { text } });
      expect(echo.content).toMatchObject([{ text }]);
    }
    await client.close();
  }, 240_000);

  test('a client of HTTP+SSE sends to whichever gateway, and reads on its one stream', async () => {
    await using fleet = await startFleet(3, { mcpServers: { it: fixture('asks-the-user') } });
    await using client = await RawClient.over(sseTransport(new URL('/sse', fleet.url).href), {
      ...{ version: '2024-11-05', capabilities: { elicitation: {} } },
    });
    client.answers('elicitation/create', () => ({ action: 'accept', content: { name: 'Anna' } }));
    await client.open();
    for (const mark of ['a', 'b', 'c'])
      expect(said(await client.callTool('it__ask-form', { mark }))).toContain('Anna');
    expect(new Set(fleet.balancer.served).size).toBe(3);
  }, 240_000);

  test.each(['legacy', 'modern'] as const)(
    'a %s client hears of a resource that only the process of another gateway has seen change',
    async (era) => {
      await using fleet = await startFleet(3, { mcpServers: { plain: fixture('plain') } });
      const client = await fleet.client({ era });
      await listedEverywhere(fleet, 'plain__touch');
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
      // A modern client is promised news at once, and gets it when the servers have agreed.
      await eventually(async () => {
        await client.callTool('plain__touch', { uri });
        return heard() >= 3;
      }, patience);
      await quiet(heard);
      const before = heard();
      let touches = 0;
      for (; seen.size < 3; touches++) await touched();
      await quiet(heard);
      expect(heard() - before).toBe(touches);
    },
    240_000,
  );
});

describe('one gateway with a file for a database', () => {
  test('goes on with its sessions, and with what was set in them, after it was restarted', async () => {
    const config = { http: { address: `127.0.0.1:${await unusedPort()}` } };
    const options = { mcpServers: { plain: fixture('plain') }, listen: 'configured', config } as const;
    await using first = await startGateway(options);
    const { home } = first;
    await using client = await first.client();
    await untilListed(client, 'plain__echo');
    await client.request('logging/setLevel', { level: 'error' });
    await client.listen([uri]);
    expect(said(await client.callTool('plain__echo', { text: 'before' }))).toBe('before');
    await first.stop();
    await using _second = await startGateway({ ...options, home });
    expect(said(await client.callTool('plain__echo', { text: 'after' }))).toBe('after');
    const news = client.notifications.next(({ method }) => method === 'notifications/resources/updated');
    // Of what changed while nobody could tell it, it hears that it may have.
    const changed = client.notifications.next(({ method }) => method.endsWith('tools/list_changed'));
    await client.listen();
    await changed;
    await client.callTool('plain__touch', { uri });
    expect((await news).params).toMatchObject({ uri });
  }, 240_000);
});
