import { describe, expect, test } from 'vitest';

import { fixture, fixtureLog, startHttpFixture } from './fixture.ts';
import { checkLeaks } from './leak-check.ts';
import { connectDirectly } from './direct-connection.ts';
import { sdkV1Client, sdkV2Client } from './sdk-clients.ts';

checkLeaks();

describe('fixtures with clients of the official SDK', () => {
  test('SDK v1 client: works with the plain fixture over stdio', async () => {
    const entry = fixture('plain');
    const client = await sdkV1Client(entry);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('structured');
    expect(await client.callTool({ name: 'structured', arguments: {} })).toMatchObject({
      structuredContent: { city: 'Prague' },
    });
    expect(await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } })).toHaveProperty('messages');
    expect(await client.readResource({ uri: 'fixture://blob' })).toHaveProperty('contents');
    await client.close();
    expect(fixtureLog(entry).violations()).toEqual([]);
  });

  test.each([
    ['JSON', []],
    ['a stream', ['--answer', 'sse']],
    ['a stream that breaks and is resumed', ['--abruptly']],
    ['a stream that breaks politely and is resumed', []],
  ])('SDK v1 client: works over HTTP with responses as %s', async (how, args) => {
    await using server = await startHttpFixture(how.includes('breaks') ? 'resumes-streams' : 'plain', args);
    const client = await sdkV1Client({ url: server.url });
    const reports: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void reports.push(progress);
    const call = { name: 'progress', arguments: { steps: 3, ms: 20 } };
    await client.callTool(call, undefined, { onprogress });
    expect(reports).toEqual([1, 2, 3]);
    await client.close();
    expect(server.log.violations()).toEqual([]);
  });

  test('SDK v1 client: works over HTTP+SSE', async () => {
    await using server = await startHttpFixture('plain', ['--sse', '0']);
    const client = await sdkV1Client({ sse: server.url });
    expect(await client.callTool({ name: 'echo', arguments: { text: 'a' } })).toMatchObject({
      content: [{ text: 'a' }],
    });
    await client.close();
    expect(server.log.violations()).toEqual([]);
  });

  test.each(['legacy', 'modern'] as const)(
    'SDK v2 client: works over stdio and HTTP in the %s era',
    async (era) => {
      const entry = fixture('plain', '--era', 'both');
      await using server = await startHttpFixture('plain', ['--era', 'both']);
      for (const target of [entry, { url: server.url }]) {
        const client = await sdkV2Client(target, { era });
        expect(client.getProtocolEra()).toBe(era);
        expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
        expect(await client.callTool({ name: 'structured', arguments: {} })).toMatchObject({
          structuredContent: { city: 'Prague' },
        });
        expect(await client.readResource({ uri: 'fixture://text' })).toHaveProperty('contents');
        await client.close();
      }
      expect([...server.log.violations(), ...fixtureLog(entry).violations()]).toEqual([]);
    },
  );

  test.each(['stdio', 'http'] as const)(
    'SDK v2 client: hears list changes and answers elicitations in the modern era over %s',
    async (over) => {
      const plain =
        over === 'stdio'
          ? fixture('plain', '--era', 'modern')
          : await startHttpFixture('plain', ['--era', 'modern']);
      const client = await sdkV2Client(plain, { era: 'modern' });
      const heard = new Promise<void>((resolve) => {
        client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
      });
      await client.listen({ toolsListChanged: true });
      await client.callTool({ name: 'change-list', arguments: {} });
      await heard;
      await client.close();
      if ('stop' in plain) await plain.stop();

      const asking =
        over === 'stdio'
          ? fixture('asks-the-user', '--era', 'modern')
          : await startHttpFixture('asks-the-user', ['--era', 'modern']);
      const person = await sdkV2Client(asking, {
        era: 'modern',
        capabilities: { elicitation: { form: {} } },
      });
      person.setRequestHandler('elicitation/create', () => ({
        action: 'accept',
        content: { name: 'Ada', town: 'London' },
      }));
      const result = await person.callTool({ name: 'ask-twice', arguments: { mark: 'm' } });
      expect(JSON.stringify(result)).toContain('London');
      await person.close();
      if ('stop' in asking) await asking.stop();
    },
  );
});

describe.each(['sdk-v1', 'sdk-v2'] as const)('SDK fixture %s', (preset) => {
  test.each(['stdio', 'http'] as const)('SDK fixture: serves legacy clients over %s', async (over) => {
    await using direct = await connectDirectly(preset, [], { over });
    const { client } = direct;
    expect(await client.callTool('echo', { text: 'a' })).toMatchObject({ content: [{ text: 'a' }] });
    await client.callTool('progress', { steps: 2 }, { meta: { progressToken: 1 } });
    expect(client.notifications.all.map(({ method }) => method)).toContain('notifications/progress');
    expect(await client.request('resources/read', { uri: 'fixture://item/1' })).toHaveProperty('contents');
    expect(await client.request('prompts/get', { name: 'greet', arguments: { name: 'a' } })).toHaveProperty(
      'messages',
    );
  });
});

test.each(['stdio', 'http'] as const)('SDK v2 fixture: serves modern clients over %s', async (over) => {
  await using direct = await connectDirectly('sdk-v2', [], { over, era: 'modern' });
  expect(await direct.client.callTool('echo', { text: 'a' })).toMatchObject({ resultType: 'complete' });
});
