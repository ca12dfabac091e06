import { expect } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import { httpTransport } from '../../support/raw-transports.ts';
import { everyLeg, overHttp, scenario } from '../../support/scenario.ts';

checkLeaks();

const patient = { startup: { listWait: '60s' } };
const named = (name: string) => ({ clientInfo: { name, version: '1' }, config: patient });
const schemas = ['alternatives', 'references', 'formats'].map((name) => `odd__${name}`);

scenario(
  'shaping: shortens tool names for a known client and keeps them callable',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['long-names'] }, named('cursor-vscode'));
    const tools = await line.client.listTools();
    expect(tools.length).toBeGreaterThan(3);
    expect(tools.map(({ name }) => name).filter((name) => !/^[A-Za-z0-9_-]{1,50}$/.test(name))).toEqual([]);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    const shortened = tools.filter(({ name }) => name.length === 50);
    expect(shortened.length).toBeGreaterThan(0);
    const answers = await Promise.all(tools.map(({ name }) => line.client.callTool(name)));
    // Each tool answers with its own name, which proves that different tools were reached.
    expect(answers.filter(({ isError }) => isError === true)).toEqual([]);
    expect(new Set(line.logs['one']?.of('call').map(({ tool }) => tool)).size).toBe(tools.length);
  },
);

scenario(
  'shaping: simplifies input schemas for a known client and passes arguments unchanged',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ odd: ['odd-schemas'] }, named('gemini-cli-mcp-client'));
    const { client } = line;
    const tools = await waitForTool(client, 'odd__formats');
    const of = (name: string) => tools.find((tool) => tool.name === name)?.['inputSchema'];
    expect(of('odd__references')).toEqual({
      type: 'object',
      properties: { who: { type: 'object', properties: { name: { type: 'string' } } } },
    });
    expect(of('odd__formats')).toEqual({
      type: 'object',
      properties: { url: { type: 'string' }, at: { type: 'string', format: 'date-time' } },
    });
    const args = { who: { name: 'Ada' }, more: [1, null] };
    expect(JSON.parse(textOfResult(await client.callTool('odd__references', args)))).toEqual(args);
  },
);

scenario(
  'shaping: offers search to a known client with a tool limit',
  { downstream: everyLeg },
  async (cell) => {
    const config = { ...patient, expose: { kind: 'auto', directBudget: 1_000_000 } };
    await using line = await cell.open(
      { many: ['many-tools', '--count', '101'] },
      { ...named('windsurf-client'), config, args: [] },
    );
    const tools = await line.client.listTools();
    expect(tools.map(({ name }) => name)).toContain('search_tools');
    expect(tools.length).toBeLessThan(10);
    if (cell.downstream.startsWith('stdio')) return;
    // Before the server is listed, `auto` offers search to every client.
    await line.client.callTool('search_tools', { query: 'tool' });
    const other = await line.another({ clientInfo: { name: 'somebody', version: '1' } });
    expect(await other.listTools()).toHaveLength(101);
  },
);

scenario(
  'shaping: skips unknown clients and single-server paths, and can be disabled',
  { downstream: overHttp },
  async (cell) => {
    const servers = { odd: ['odd-schemas'] } as const;
    const original = { anyOf: [{ required: ['id'] }, { required: ['name'] }] };
    const listedBy = async (client: RawClient, name = 'odd__alternatives') =>
      (await waitForTool(client, name)).find((tool) => tool.name === name)?.['inputSchema'];
    await using line = await cell.open(servers, named('claude-code'));
    expect(await listedBy(line.client)).toEqual({
      type: 'object',
      properties: { id: { type: 'string' }, name: { type: 'string' } },
    });
    const unknown = await line.another({ clientInfo: { name: 'somebody', version: '1' } });
    expect(await listedBy(unknown)).toMatchObject(original);
    const identity = { era: line.client.era, clientInfo: { name: 'claude-code', version: '1' } };
    const alone = await RawClient.over(httpTransport(`${line.gateway.url}/s/odd`), identity);
    await alone.open();
    expect(await listedBy(alone, 'alternatives')).toMatchObject(original);
    await alone.close();
    const off = { ...named('claude-code'), config: { ...patient, expose: { shape: false } } };
    await using without = await cell.open(servers, off);
    expect(await listedBy(without.client)).toMatchObject(original);
    expect(schemas).toHaveLength((await without.client.listTools()).length);
  },
);
