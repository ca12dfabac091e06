import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';

import { expect } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

const kinds = ['tools', 'prompts', 'resources'];

scenario(
  'first listing: waits for slow servers, but no longer than startup.listWait',
  { slow: true },
  async (cell) => {
    {
      const config = { startup: { listWait: '10s' } };
      await using line = await cell.open(
        { a: ['slow-start', '--ms', '400'], b: ['dies-at-start'] },
        { config },
      );
      expect(serversIn(await line.client.request('tools/list', {}, { withinMs: 15_000 }))).toEqual(['a']);
    }
    const config = { startup: { listWait: '3s' } };
    await using line = await cell.open({ a: ['plain'], b: ['never-answers'] }, { config });
    expect(serversIn(await line.client.request('tools/list', {}, { withinMs: 10_000 }))).toEqual(['a']);
    expect(textOfResult(await line.client.callTool('a__echo', { text: 'x' }))).toBe('x');
    // Later requests do not wait again: a hundred waits would take minutes.
    for (let round = 0; round < 25; round += 1) {
      for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])
        expect(await line.client.request(method, {}, { withinMs: 10_000 })).toBeDefined();
    }
  },
);

scenario(
  'first listing: announces entries that arrive after startup.listWait, to a client that has listed',
  { downstream: everyLeg },
  async (cell) => {
    const file = join(temporaryFolder(), 'go');
    await using line = await cell.open(
      { a: ['plain'], b: ['slow-start', '--until', file] },
      { config: { startup: { listWait: '200ms' } } },
    );
    const { client } = line;
    await client.listen();
    const early = await waitForTool(client, 'a__echo');
    expect(early.filter(({ name }) => name.startsWith('b__'))).toEqual([]);
    // Changes of a list are announced only to a client that has requested it.
    await client.request('prompts/list');
    let seen = announcements(client, 'tools').length;
    writeFileSync(file, '');
    // Like a client that lists again only after a notification.
    for (let tools = early; !tools.some(({ name }) => name === 'b__echo');) {
      await eventually(() => announcements(client, 'tools').length > seen, { what: 'An announcement' });
      seen = announcements(client, 'tools').length;
      tools = await client.listTools();
      expect(tools).toEqual(expect.arrayContaining([...early]));
    }
    await eventually(() => announcements(client, 'prompts').length > 0, {
      what: 'An announcement of prompts',
    });
    if (client.era === 'legacy') {
      // All lists are announced together, so a later response follows the announcement of each.
      await client.request('ping');
      expect(announcements(client, 'resources')).toEqual([]);
    }
    const prompts = await client.request('prompts/list');
    const greet = expect.objectContaining({ name: 'b__greet' });
    expect(prompts['prompts']).toEqual(expect.arrayContaining([greet]));
  },
);

scenario(
  'list change: is not announced when the listing stays the same',
  { downstream: everyLeg },
  async (cell) => {
    const file = join(temporaryFolder(), 'go');
    const config = { startup: { listWait: '10s' } };
    await using line = await cell.open(
      { a: ['slow-start', '--until', file] },
      { config, entries: { a: { trust: 'scan' } } },
    );
    const { client } = line;
    await client.listen();
    const methods = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
    const first = methods.map((method) => client.request(method));
    if (client.era === 'legacy') await client.request('ping');
    writeFileSync(file, '');
    expect(serversIn((await Promise.all(first))[0] ?? {})).toEqual(['a']);
    const lists = (): number =>
      line.logs['a']?.of('request').filter(({ method }) => method === 'tools/list').length ?? 0;
    const change = async (args: { add: number; announce: number }): Promise<void> => {
      await client.callTool('a__change-list', args);
    };
    // A real change first: its announcement comes after all announcements of the startup.
    const told = client.notifications.next(isToolChange);
    await change({ add: 1, announce: 1 });
    await told;
    await eventually(async () => hasAdded(await client.listTools(), 1));
    // The notification may belong to the startup, which modern clients receive; the change itself then follows shortly.
    await pass(300);
    const counts = kinds.map((kind) => announcements(client, kind).length);
    // A client that has already listed everything receives no announcement. Modern clients have no session.
    if (client.era === 'legacy') expect(counts).toEqual([1, 0, 0]);

    const known = lists();
    await change({ add: 0, announce: 5 });
    await eventually(() => lists() > known, { what: 'Another listing of the server' });
    // A wrong announcement would have arrived by now and cannot be mistaken for the next one.
    await pass(300);
    const next = client.notifications.next(isToolChange);
    await change({ add: 1, announce: 3 });
    await next;
    await eventually(async () => hasAdded(await client.listTools(), 2));
    const [tools = 0, ...others] = counts;
    expect(kinds.map((kind) => announcements(client, kind).length)).toEqual([tools + 1, ...others]);
  },
);

function hasAdded(tools: readonly { readonly name: string }[], count: number): boolean {
  return tools.filter(({ name }) => name.startsWith('a__added-')).length === count;
}

function isToolChange({ method }: { readonly method: string }): boolean {
  return method === 'notifications/tools/list_changed';
}

function announcements(client: RawClient, kind: string) {
  return client.notifications.all.filter(({ method }) => method === `notifications/${kind}/list_changed`);
}

/** The prefixes of the names in a list of tools. */
function serversIn(result: Readonly<Record<string, unknown>>): readonly string[] {
  const tools = result['tools'] as readonly { readonly name: string }[];
  return [...new Set(tools.map(({ name }) => name.split('__', 1)[0] ?? ''))];
}
