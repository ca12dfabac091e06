import { expect } from 'vitest';

import { listAllPages, rpcErrorOf, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import { httpTransport } from '../../support/raw-transports.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { type ScenarioCell, everyLeg, overHttp, scenario } from '../../support/scenario.ts';

checkLeaks();

const PAGE = 'ui://widget/page.html';
const two = { one: ['gives-links', '--mark', 'one'], two: ['gives-links', '--mark', 'two'] } as const;
const mayReconnect = ({ downstream }: ScenarioCell): boolean => !downstream.startsWith('stdio');

/** Returns the block of a result that contains a URI. */
async function linkOf(client: RawClient, tool: string): Promise<JsonObject> {
  const { content } = await client.callTool(tool);
  return content.find(({ type }) => type !== 'text') ?? {};
}

async function read(client: RawClient, uri: unknown): Promise<JsonObject> {
  const { contents } = await client.request('resources/read', { uri });
  return (contents as JsonObject[])[0] ?? {};
}

scenario(
  'resource link: is read at the server that returned it, even after a reconnect',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['gives-links'] });
    const { client } = line;
    await waitForTool(client, 'one__a-link');
    expect(await linkOf(client, 'one__a-link')).toEqual({
      type: 'resource_link',
      uri: 'made:///a',
      name: 'a',
      mimeType: 'text/plain',
      'x-unknown': 1,
    });
    expect(await read(client, 'made:///a')).toEqual({ uri: 'made:///a', text: 'a of one' });
    await client.request('prompts/get', { name: 'one__a-prompt' });
    expect(await read(client, 'made:///prompted')).toEqual({
      uri: 'made:///prompted',
      text: 'prompted of one',
    });
    if (!mayReconnect(cell)) return;
    await client.close();
    const again = await line.another();
    expect(await read(again, 'made:///a')).toMatchObject({ text: 'a of one' });
  },
);

scenario(
  'resource: is distinguished by server in links and reads when two servers use the same URI',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open(two);
    const { client } = line;
    await waitForTool(client, 'two__a-link');
    await waitForTool(client, 'one__a-link');
    const links = [await linkOf(client, 'one__a-link'), await linkOf(client, 'two__a-link')];
    expect(links.map(({ uri }) => uri)).toEqual(['made:///a', 'trunkline://two/made:///a']);
    for (const [at, mark] of ['one', 'two'].entries()) {
      const uri = links[at]?.['uri'];
      expect(await read(client, uri)).toEqual({ uri, text: `a of ${mark}` });
    }
    // Text in a result is not rewritten.
    expect(textOfResult(await client.callTool('two__a-link'))).toBe('see made:///a\n');
    expect((await listAllPages(client, 'resources/list', 'resources')).map(({ uri }) => uri)).toEqual([
      'own:///one',
      'own:///two',
    ]);
  },
);

scenario(
  'resource: is rejected with the error code of the protocol era when its URI is unknown',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open(two);
    const { client } = line;
    await waitForTool(client, 'one__a-link');
    for (const uri of ['made:///a', 'trunkline://one/made:///a', 'nowhere:///']) {
      const error = await rpcErrorOf(client.request('resources/read', { uri }));
      expect(error.code).toBe(client.era === 'modern' ? -32602 : -32002);
      expect(error.message).toContain(uri);
      expect(error.data).toMatchObject({ uri });
    }
    expect(line.logs['one']?.of('read')).toEqual([]);
  },
);

scenario(
  'resource: passes binary content byte for byte',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['gives-links'] });
    const { client } = line;
    await waitForTool(client, 'one__a-resource');
    const { resource } = (await linkOf(client, 'one__a-resource')) as { resource: JsonObject };
    const given = Buffer.from(String((await read(client, resource['uri']))['blob']), 'base64');
    const expected = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    expect(given.equals(expected)).toBe(true);
    expect(Buffer.from(String(resource['blob']), 'base64').equals(expected)).toBe(true);
  },
);

scenario(
  'resource template: routes a matching URI to the server of the template',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open(two);
    const { client } = line;
    await waitForTool(client, 'two__a-link');
    await waitForTool(client, 'one__a-link');
    for (const mark of ['one', 'two']) {
      const uri = `items-${mark}:///7`;
      expect(await read(client, uri)).toEqual({ uri, text: `${uri} of ${mark}` });
    }
  },
);

const pageOf = ({ _meta: meta }: JsonObject): readonly unknown[] => {
  const { ui, 'ui/resourceUri': flat } = meta as { ui: JsonObject; 'ui/resourceUri': string };
  return [ui['resourceUri'], flat];
};

scenario(
  'MCP Apps: gives equal page URIs of two servers distinct URIs that can be read',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ ...two, three: ['plain'] });
    const { client } = line;
    await waitForTool(client, 'two__a-page');
    const tools = await waitForTool(client, 'one__a-page');
    for (const mark of ['one', 'two']) {
      const tool = tools.find(({ name }) => name === `${mark}__a-page`) ?? {};
      const uri = `trunkline://${mark}/${PAGE}`;
      expect(pageOf(tool)).toEqual([uri, uri]);
      expect(tool).toMatchObject({ _meta: { ui: { visibility: ['model'] }, 'example.com/kept': 1 } });
      expect(await read(client, uri)).toEqual({
        uri,
        mimeType: 'text/html;profile=mcp-app',
        text: `<p>${mark}</p>`,
      });
    }
  },
);

scenario(
  'MCP Apps: names a readable page when a tool is described',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open(
      { one: ['gives-links', '--apps'], other: ['plain'] },
      { args: ['--expose', 'search'] },
    );
    const { client } = line;
    await line.logs['one']?.waitFor(({ method }) => method === 'resources/templates/list');
    const described = textOfResult(await client.callTool('describe_tools', { names: ['one__a-page'] }));
    // No other server has this page, so it keeps its URI.
    expect(pageOf(JSON.parse(described) as JsonObject)).toEqual([PAGE, PAGE]);
    expect(await read(client, PAGE)).toMatchObject({ text: '<p>one</p>' });
    const called = await client.callTool('call_read_tool', { name: 'one__a-page', arguments: {} });
    expect(textOfResult(called)).toBe('page of one');
  },
);

scenario(
  'MCP Apps: keeps the page URI at the path of a single server',
  { downstream: overHttp, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open(two);
    const era = cell.downstream === 'http/modern' ? ('modern' as const) : ('legacy' as const);
    for (const mark of ['one', 'two']) {
      const client = await RawClient.over(httpTransport(`${line.gateway.url}/s/${mark}`), { era });
      await client.open();
      const tools = await waitForTool(client, 'a-page');
      expect(pageOf(tools.find(({ name }) => name === 'a-page') ?? {})).toEqual([PAGE, PAGE]);
      expect(await read(client, PAGE)).toMatchObject({ uri: PAGE, text: `<p>${mark}</p>` });
      await client.close();
    }
  },
);
