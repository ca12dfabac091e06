import { expect } from 'vitest';

import { rpcErrorOf, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import type { TestSetup } from '../../support/cell.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import { httpTransport } from '../../support/raw-transports.ts';
import { type ScenarioCell, everyLeg, overHttp, scenario } from '../../support/scenario.ts';

checkLeaks();

const patient = { config: { startup: { listWait: '60s' } } };
const namesOf = (entries: unknown): readonly unknown[] =>
  (entries as { name: unknown }[]).map(({ name }) => name);

/** Connects a client at the path of one server, and returns the result of its initialization as well. */
async function alone(line: TestSetup, cell: ScenarioCell, server = 'one') {
  const era = cell.downstream === 'http/modern' ? ('modern' as const) : ('legacy' as const);
  const client = await RawClient.over(httpTransport(`${line.gateway.url}/s/${server}`), { era });
  const opened = await client.open();
  return { client, opened, [Symbol.asyncDispose]: () => client.close() };
}

scenario(
  'single server: lists its entries under their own names and in their own order',
  { downstream: overHttp, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'], two: ['same-names'] }, patient);
    await using first = await alone(line, cell);
    const { client } = first;
    const tools = namesOf((await client.request('tools/list'))['tools']);
    expect(tools.slice(0, 3)).toEqual(['echo', 'add', 'structured']);
    expect(tools).not.toContain('one__echo');
    expect(namesOf((await client.request('prompts/list'))['prompts'])).toEqual(['greet', 'bare']);
    expect(namesOf((await client.request('resources/list'))['resources'])).toEqual(['text', 'blob']);
  },
);

scenario(
  'single server: answers calls, prompts, resources and completions under its own names',
  { downstream: overHttp, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'], two: ['plain'] }, patient);
    await using first = await alone(line, cell);
    const { client } = first;
    expect(textOfResult(await client.callTool('echo', { text: 'hello' }))).toBe('hello');
    const prompt = await client.request('prompts/get', { name: 'greet', arguments: { name: 'Ada' } });
    expect(prompt['messages']).toMatchObject([{ content: { text: 'Hello Ada!' } }, {}]);
    // Both servers have it; at the path of a single server its URI needs no prefix.
    for (const uri of ['fixture://text', 'fixture://item/7'])
      expect((await client.request('resources/read', { uri }))['contents']).toMatchObject([{ uri }]);
    const code = client.era === 'modern' ? -32602 : -32002;
    const missing = await rpcErrorOf(client.request('resources/read', { uri: 'fixture://nowhere' }));
    expect(missing).toMatchObject({ code: expect.toSatisfy((given) => given === code || given === -32602) });
    const ref = { type: 'ref/prompt', name: 'greet' };
    const argument = { name: 'name', value: 'Al' };
    expect(await client.request('completion/complete', { ref, argument })).toMatchObject({
      completion: { values: ['Alan'] },
    });
  },
);

scenario(
  'single server: introduces itself with its own name, instructions and capabilities',
  { downstream: overHttp, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'], two: ['same-names'] }, patient);
    await using first = await alone(line, cell);
    const { opened, client } = first;
    const info =
      client.era === 'modern'
        ? (opened['_meta'] as Record<string, unknown>)['io.modelcontextprotocol/serverInfo']
        : opened['serverInfo'];
    expect(info).toMatchObject({ name: 'plain', title: 'A fixture' });
    expect(opened['instructions']).toBe('A server for tests of the gateway.');
    expect(opened['capabilities']).toMatchObject({ tools: { listChanged: true }, completions: {} });
  },
);

scenario(
  'single server: notifies its clients only of its own list changes',
  { downstream: overHttp, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open(
      { one: ['plain'], two: ['plain'] },
      { ...patient, entries: { one: { trust: 'scan' } } },
    );
    // The first listing counts as a change, too; it has been announced by now.
    for (const name of ['one__echo', 'two__echo']) await waitForTool(line.client, name);
    await using first = await alone(line, cell, 'one');
    await using second = await alone(line, cell, 'two');
    for (const { client } of [first, second]) {
      await client.request('tools/list');
      await client.listen();
    }
    const isChange = ({ method }: { method: string }) => method === 'notifications/tools/list_changed';
    const heard = first.client.notifications.next(isChange);
    await first.client.callTool('change-list', { add: 1, announce: 1 });
    await heard;
    const tools = namesOf((await first.client.request('tools/list'))['tools']);
    expect(tools.some((name) => String(name).startsWith('added-'))).toBe(true);
    expect(namesOf((await second.client.request('tools/list'))['tools']).join()).not.toContain('added-');
    expect(second.client.notifications.all.some(isChange)).toBe(false);
  },
);

scenario(
  'single server: returns 404 for unknown paths and for sessions of other paths',
  { downstream: ['http/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'], two: ['plain'] }, patient);
    const { url } = line.gateway;
    const statusOf = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: headers['Mcp-Session-Id'] === undefined ? 'initialize' : 'ping',
          params: {
            protocolVersion: '2025-11-25',
            capabilities: {},
            clientInfo: { name: 'x', version: '1' },
          },
        }),
      });
      await response.text();
      return [response.status, response.headers.get('mcp-session-id') ?? ''] as const;
    };
    for (const path of ['/s/three', '/s/', '/s/one/two', '/s/%', '/s', '/t/one'])
      expect((await statusOf(path))[0], path).toBe(404);
    const [status, session] = await statusOf('/s/one');
    expect(status).toBe(200);
    const headers = { 'Mcp-Session-Id': session };
    expect((await statusOf('/s/one', headers))[0]).toBe(200);
    expect((await statusOf('/s/two', headers))[0]).toBe(404);
    expect((await statusOf('', headers))[0]).toBe(404);
  },
);
