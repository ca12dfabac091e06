import { describe, expect, it } from 'vitest';

import { MemoryGateway } from '../../../test/support/memory-gateway.ts';
import type { Offer } from '../../../test/support/memory-gateway.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import type { Caller } from '../../model/caller.ts';
import type { JsonObject } from '../../model/json.ts';

const ada: Caller = { id: 'ada', via: 'http', profile: 'default' };
const bob: Caller = { id: 'bob', via: 'http', profile: 'default' };

/** A server whose tool gives out these URIs, and which can read whatever it is asked for. */
function giver(name: string, uris: readonly string[], more: Offer = {}): Offer {
  return {
    tools: [{ name: 'give', inputSchema: { type: 'object' } }],
    prompts: [{ name: 'give' }],
    script: ({ method, params }) => {
      if (method === 'tools/call')
        return { content: uris.map((uri) => ({ type: 'resource_link', uri, name: uri })), big: 1 };
      if (method === 'prompts/get')
        return {
          messages: uris.map((uri) => ({ role: 'user', content: { type: 'resource', resource: { uri } } })),
        };
      if (method === 'resources/read')
        return { contents: [{ uri: params?.['uri'], text: `${name} read ${String(params?.['uri'])}` }] };
      return {};
    },
    ...more,
  };
}

function request(params: JsonObject) {
  return { params, session: 's', cancellation: new Cancellation() };
}

async function given(memory: MemoryGateway, server: string, caller = ada): Promise<readonly unknown[]> {
  const { gateway } = memory;
  const payload = await gateway.callTool(caller, `${server}__give`, request({ name: `${server}__give` }));
  return (payload.peek as { content: { uri: string }[] }).content.map(({ uri }) => uri);
}

async function read(memory: MemoryGateway, uri: string, caller = ada): Promise<unknown> {
  const payload = await memory.gateway.readResource(caller, uri, request({ uri }));
  return (payload.peek as { contents: unknown[] }).contents[0];
}

describe('a URI in a result', () => {
  it('that no list has can be read, at the server that gave it', async () => {
    await using memory = await MemoryGateway.start({ a: giver('a', ['x://1']), b: giver('b', ['x://2']) });
    await expect(read(memory, 'x://1')).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    expect(await given(memory, 'a')).toEqual(['x://1']);
    expect(await given(memory, 'b')).toEqual(['x://2']);
    expect(await read(memory, 'x://1')).toEqual({ uri: 'x://1', text: 'a read x://1' });
    expect(await read(memory, 'x://2')).toEqual({ uri: 'x://2', text: 'b read x://2' });
  });

  it('is prefixed when another server gave out the same, in what is read as well', async () => {
    await using memory = await MemoryGateway.start({ a: giver('a', ['x://1']), b: giver('b', ['x://1']) });
    expect(await given(memory, 'a')).toEqual(['x://1']);
    expect(await given(memory, 'b')).toEqual(['trunkline://b/x://1']);
    expect(await read(memory, 'x://1')).toEqual({ uri: 'x://1', text: 'a read x://1' });
    expect(await read(memory, 'trunkline://b/x://1')).toEqual({
      uri: 'trunkline://b/x://1',
      text: 'b read x://1',
    });
    expect(await given(memory, 'b')).toEqual(['trunkline://b/x://1']);
  });

  it('is prefixed when another server lists it or has a template for it', async () => {
    await using memory = await MemoryGateway.start({
      a: giver('a', ['listed://1', 'made://1', 'own://1']),
      b: giver('b', [], {
        resources: [{ uri: 'listed://1', name: 'one' }],
        resourceTemplates: [{ uriTemplate: 'made://{x}', name: 'made' }],
      }),
    });
    expect(await given(memory, 'a')).toEqual([
      'trunkline://a/listed://1',
      'trunkline://a/made://1',
      'own://1',
    ]);
    expect(await read(memory, 'trunkline://a/listed://1')).toMatchObject({ text: 'a read listed://1' });
    expect(await read(memory, 'listed://1')).toMatchObject({ text: 'b read listed://1' });
    expect(await read(memory, 'made://1')).toMatchObject({ text: 'b read made://1' });
  });

  it('cannot pass for one of another server', async () => {
    await using memory = await MemoryGateway.start({
      a: giver('a', ['x://1']),
      evil: giver('evil', ['trunkline://a/x://1', 'x://1']),
    });
    expect(await given(memory, 'evil')).toEqual(['trunkline://evil/trunkline://a/x://1', 'x://1']);
    expect(await given(memory, 'a')).toEqual(['trunkline://a/x://1']);
    expect(await read(memory, 'trunkline://a/x://1')).toMatchObject({ text: 'a read x://1' });
  });

  it('counts for the caller that got it only', async () => {
    await using memory = await MemoryGateway.start({ a: giver('a', ['x://1']) });
    await given(memory, 'a', ada);
    await expect(read(memory, 'x://1', bob)).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    expect(await read(memory, 'x://1', ada)).toMatchObject({ text: 'a read x://1' });
  });

  it('of a prompt counts as well, and can be subscribed to', async () => {
    await using memory = await MemoryGateway.start({ a: giver('a', ['x://1']) });
    const { gateway } = memory;
    await gateway.getPrompt(ada, 'a__give', request({ name: 'a__give' }));
    expect(await read(memory, 'x://1')).toMatchObject({ text: 'a read x://1' });
    using _subscription = await gateway.subscribe(ada, 'x://1', () => {});
    expect(memory.server('a').last('resources/subscribe').params).toEqual({ uri: 'x://1' });
  });

  it('is forgotten after a thousand others of the same server, those of others are not', async () => {
    const many = Array.from({ length: 1000 }, (_, at) => `many://${at}`);
    await using memory = await MemoryGateway.start({
      a: giver('a', ['first://1', ...many]),
      b: giver('b', ['other://1']),
    });
    await given(memory, 'b');
    await given(memory, 'a');
    await expect(read(memory, 'first://1')).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    expect(await read(memory, 'many://0')).toMatchObject({ text: 'a read many://0' });
    expect(await read(memory, 'other://1')).toMatchObject({ text: 'b read other://1' });
  });

  it('leaves a result as it came when nothing has to change', async () => {
    await using memory = await MemoryGateway.start({ a: giver('a', ['x://1']) });
    const call = memory.gateway.callTool(ada, 'a__give', request({ name: 'a__give' }));
    expect((await call).text).toBe(
      '{"content":[{"type":"resource_link","uri":"x://1","name":"x://1"}],"big":1}',
    );
  });
});
