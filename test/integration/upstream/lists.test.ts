import { expect } from 'vitest';

import { listAllPages, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

scenario('upstream lists: follow every page', { upstream: everyLeg }, async (cell) => {
  await using line = await cell.open({ one: ['pages', '--count', '25'] });
  const { client } = line;
  const tools = await waitForTool(client, 'one__tool-24');
  const numbers = Array.from({ length: 25 }, (_, index) => index);
  const sorted = (names: readonly unknown[]): readonly string[] => names.map(String).toSorted();
  expect(sorted(tools.map(({ name }) => name))).toEqual(sorted(numbers.map((n) => `one__tool-${n}`)));
  const prompts = await listAllPages(client, 'prompts/list', 'prompts');
  expect(sorted(prompts.map(({ name }) => name))).toEqual(sorted(numbers.map((n) => `one__prompt-${n}`)));
  const resources = await listAllPages(client, 'resources/list', 'resources');
  expect(sorted(resources.map(({ uri }) => uri))).toEqual(sorted(numbers.map((n) => `fixture://page/${n}`)));
  const templates = await listAllPages(client, 'resources/templates/list', 'resourceTemplates');
  expect(sorted(templates.map(({ uriTemplate }) => uriTemplate))).toEqual(
    sorted(numbers.map((n) => `fixture://t${n}/{id}`)),
  );
  expect(textOfResult(await client.callTool('one__tool-24'))).toBe('tool-24');
});

scenario('upstream lists: are truncated when endless, with one warning in the log', async (cell) => {
  await using line = await cell.open({
    endless: ['endless-pages'],
    circular: ['endless-pages', '--same-cursor'],
    good: ['plain'],
  });
  await waitForTool(line.client, 'good__echo');
  await waitForTool(line.client, 'circular__tool-0');
  const tools = await waitForTool(line.client, 'endless__tool-99');
  const count = tools.filter(({ name }) => name.startsWith('endless__')).length;
  expect(count).toBeLessThanOrEqual(1000);
  expect(tools.filter(({ name }) => name.startsWith('circular__'))).toHaveLength(1);
  expect(textOfResult(await line.client.callTool('endless__tool-0'))).toBe('tool-0');
  for (const name of ['endless', 'circular']) {
    const saying = line.gateway.stderr().split('\n');
    expect(
      saying.filter((text) => text.includes('Pagination limit reached') && text.includes(`"${name}"`)),
    ).toHaveLength(1);
  }
});

scenario(
  'upstream lists: announce an added tool to clients',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, { entries: { one: { trust: 'scan' } } });
    const { client } = line;
    const before = await waitForTool(client, 'one__change-list');
    await client.listen();
    // Twice, because the first notification may be a late one of the startup.
    for (const index of [before.length, before.length + 1]) {
      const announced = client.notifications.next(
        ({ method }) => method === 'notifications/tools/list_changed',
      );
      await client.callTool('one__change-list');
      await announced;
      await waitForTool(client, `one__added-${index}`);
      expect(textOfResult(await client.callTool(`one__added-${index}`))).toBe(`added-${index}`);
    }
  },
);

scenario(
  'resource subscription: notifies exactly the subscribed clients of an update',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    const { client } = line;
    await waitForTool(client, 'one__touch');
    const [text, blob] = ['fixture://text', 'fixture://blob'];
    await client.listen([text]);
    // Stdio has one client. Over HTTP, a second client subscribes to something else, and a third to nothing.
    const others = cell.downstream.startsWith('stdio') ? [] : [await line.another(), await line.another()];
    await others[0]?.listen([blob]);
    await others[1]?.listen();
    const touch = (uri: string): Promise<unknown> => client.callTool('one__touch', { uri });
    for (const uri of [blob, text, blob, text, blob]) await touch(uri);
    const updates = (of: typeof client): readonly unknown[] =>
      of.notifications.all
        .filter(({ method }) => method === 'notifications/resources/updated')
        .map(({ params }) => params['uri']);
    await eventually(() => expect(updates(client)).toEqual([text, text]));
    if (others[0] !== undefined) {
      const [second, third] = [others[0], others[1]!];
      await eventually(() => expect(updates(second)).toEqual([blob, blob, blob]));
      expect(updates(third)).toEqual([]);
    }
    expect(updates(client)).toEqual([text, text]);
  },
);
