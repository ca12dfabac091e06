import { expect } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import { httpTransport } from '../../support/raw-transports.ts';
import { everyLeg, overHttp, scenario } from '../../support/scenario.ts';

checkLeaks();

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const meta = { traceparent, 'x-codex-turn-metadata': { session_id: 's' }, 'example.com/a': 1 };

/** Returns the `_meta` that the server got with a call. */
async function metaAtServer(client: RawClient, tool: string): Promise<unknown> {
  const result = await client.callTool(tool, { text: 'x' }, { meta });
  return JSON.parse(textOfResult(result) ?? '');
}

scenario(
  'private _meta: a server gets only the keys of MCP and those that its passMeta allows',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open(
      { one: ['shows-meta'], two: ['shows-meta'] },
      { entries: { two: { passMeta: ['example.com/*'] } } },
    );
    await waitForTool(line.client, 'two__echo');
    const one = await metaAtServer(line.client, 'one__echo');
    expect(one).toMatchObject({ traceparent });
    expect(JSON.stringify(one)).not.toMatch(/codex|example\.com/);
    const two = await metaAtServer(line.client, 'two__echo');
    expect(two).toMatchObject({ traceparent, 'example.com/a': 1 });
    expect(JSON.stringify(two)).not.toMatch(/codex/);
  },
);

scenario(
  'private _meta: a server that is served alone gets all keys',
  { downstream: overHttp },
  async (cell) => {
    await using line = await cell.open({ one: ['shows-meta'] });
    const client = await RawClient.over(httpTransport(`${line.gateway.url}/s/one`), {
      era: line.client.era,
    });
    await client.open();
    expect(await metaAtServer(client, 'echo')).toMatchObject(meta);
    const [tool] = await client.listTools();
    expect(tool).toMatchObject({ _meta: { 'anthropic/alwaysLoad': true } });
    await client.close();
  },
);

scenario(
  'always loaded tools: a server can mark its tools only with tools.alwaysLoad',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open(
      { one: ['shows-meta'], two: ['shows-meta'] },
      { entries: { two: { tools: { alwaysLoad: true } } }, config: { expose: { kind: 'direct' } } },
    );
    await waitForTool(line.client, 'one__echo');
    const tools = await waitForTool(line.client, 'two__echo');
    const metaOf = (wanted: string) => tools.find(({ name }) => name === wanted)?.['_meta'];
    expect(metaOf('one__echo')).toEqual({ 'example.com/kept': 1 });
    expect(metaOf('two__echo')).toEqual({ 'anthropic/alwaysLoad': true, 'example.com/kept': 1 });
  },
);
