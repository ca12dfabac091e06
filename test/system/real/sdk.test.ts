import { expect } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { withSdkClients } from '../../support/sdk-gateway.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

const patient = { startup: { listWait: '60s' } };

scenario(
  'SDK clients: work through the gateway in old and new versions',
  { downstream: everyLeg },
  async (cell) => {
    const one = fixture('plain');
    const log = fixtureLog(one);
    await withSdkClients(
      cell,
      { mcpServers: { one: { ...one, trust: 'scan' } }, config: patient },
      async (client) => {
        expect(await client.tools()).toEqual(expect.arrayContaining(['one__echo', 'one__structured']));
        expect(textOfResult(await client.call('one__echo', { text: 'through' }))).toBe('through');
        // The clients validate structured results against the listed schema.
        expect(await client.call('one__structured', { city: 'Brno' })).toMatchObject({
          structuredContent: { city: 'Brno', degrees: 21.5 },
        });
        const reports: number[] = [];
        const onprogress = ({ progress }: { progress: number }): void => void reports.push(progress);
        await client.call('one__progress', { steps: 3, ms: 300 }, { onprogress });
        // These clients drop a report that arrives in the same chunk as the answer, with or without the gateway.
        expect(reports.slice(0, 2)).toEqual([1, 2]);

        expect(await client.prompts()).toEqual(['one__bare', 'one__greet']);
        expect(await client.prompt('one__greet', { name: 'Ada' })).toMatchObject([
          { text: 'Hello Ada!' },
          { type: 'image' },
        ]);
        const ref = { type: 'ref/prompt', name: 'one__greet' } as const;
        expect(await client.complete(ref, { name: 'name', value: 'Al' })).toEqual(['Alan']);
        expect(await client.resources()).toEqual(['fixture://blob', 'fixture://text']);
        expect(await client.templates()).toEqual(['fixture://item/{id}']);
        expect(await client.read('fixture://item/7')).toMatchObject([{ text: '{"id":"7"}' }]);

        await expect(client.call('one__rpc-error')).rejects.toMatchObject({ code: -32050 });
        await expect(client.call('one__ecoh')).rejects.toThrow('Did you mean "one__echo"');
        expect(await client.call('one__fail')).toMatchObject({ isError: true });

        const cancelled = log.of('cancelled').length;
        const calls = log.of('call').length;
        const cancelling = new AbortController();
        const slow = client.call('one__slow', { ms: 600_000 }, { signal: cancelling.signal });
        const outcome = slow.catch((error: unknown) => error);
        await eventually(() => log.of('call').length > calls, { what: 'The slow call' });
        cancelling.abort();
        expect(await outcome).toBeInstanceOf(Error);
        await eventually(() => log.of('cancelled').length > cancelled, { what: 'The cancellation' });

        if (client.era === 'modern') return;
        const heard: string[] = [];
        client.onNotification((method) => heard.push(method));
        await client.call('one__change-list');
        await eventually(() => heard.includes('notifications/tools/list_changed'), { what: 'The change' });
        expect((await client.tools()).some((name) => name.startsWith('one__added-'))).toBe(true);
      },
    );
    expect(log.violations()).toEqual([]);
  },
);

scenario(
  'SDK servers: work behind the gateway in old and new versions',
  { upstream: ['stdio/legacy', 'stdio/modern', 'http/legacy', 'http/modern'] },
  async (cell) => {
    // Version 1 supports only the legacy era; version 2 supports both, so the gateway uses the modern one.
    const isModern = cell.upstream.endsWith('modern');
    const servers = isModern
      ? { two: ['sdk-v2'] as const }
      : { one: ['sdk-v1'] as const, two: ['sdk-v2'] as const };
    await using line = await cell.open(servers, { config: patient });
    const { client } = line;
    for (const server of Object.keys(servers)) {
      await waitForTool(client, `${server}__echo`);
      expect(textOfResult(await client.callTool(`${server}__echo`, { text: server }))).toBe(server);
      const meta = { progressToken: server };
      expect(textOfResult(await client.callTool(`${server}__progress`, { steps: 3 }, { meta }))).toBe(
        '3 steps',
      );
      const reports = client.notifications.all.filter(({ params }) => params['progressToken'] === server);
      expect(reports.map(({ params }) => params['progress'])).toEqual([1, 2, 3]);
      const greeting = await client.request('prompts/get', {
        name: `${server}__greet`,
        arguments: { name: 'Ada' },
      });
      expect(greeting).toMatchObject({ messages: [{ content: { text: 'Hello Ada!' } }] });
      // The SDK reports invalid arguments as a result, which the gateway forwards.
      expect(await client.callTool(`${server}__echo`, { text: 7 })).toMatchObject({ isError: true });
    }
    // Both servers offer the same URIs, so each gets its own prefix.
    const { resources } = (await client.request('resources/list')) as { resources: { uri: string }[] };
    expect(resources).toHaveLength(Object.keys(servers).length);
    for (const { uri } of resources) {
      const { contents } = await client.request('resources/read', { uri });
      expect(contents).toMatchObject([{ text: 'a static text' }]);
    }
    const eras = line.logs['two']?.of('call').map(({ era }) => era);
    expect(new Set(eras)).toEqual(new Set(['modern']));
  },
);
