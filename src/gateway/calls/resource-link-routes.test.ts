import { describe, expect, it } from 'vitest';

import { cpuStopwatch } from '../../../test/support/cpu-time.ts';
import { MemoryGateway } from '../../../test/support/memory-gateway.ts';
import type { Offer } from '../../../test/support/memory-gateway.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import type { Caller } from '../../core/caller.ts';
import type { JsonObject } from '../../core/json.ts';

const ada: Caller = { id: 'ada', via: 'http', profile: 'default' };
const bob: Caller = { id: 'bob', via: 'http', profile: 'default' };

/** A server whose tool and prompt return links to these URIs, and which can read any resource. */
function linkingServer(name: string, uris: readonly string[], more: Offer = {}): Offer {
  return {
    tools: [{ name: 'links', inputSchema: { type: 'object' } }],
    prompts: [{ name: 'links' }],
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

async function callForLinks(
  memory: MemoryGateway,
  server: string,
  caller = ada,
): Promise<readonly unknown[]> {
  const { gateway } = memory;
  const payload = await gateway.callTool(caller, `${server}__links`, request({ name: `${server}__links` }));
  return (payload.peek as { content: { uri: string }[] }).content.map(({ uri }) => uri);
}

async function read(memory: MemoryGateway, uri: string, caller = ada): Promise<unknown> {
  const payload = await memory.gateway.readResource(caller, uri, request({ uri }));
  return (payload.peek as { contents: unknown[] }).contents[0];
}

describe('resource links in results', () => {
  it('resource link: is readable at the server that returned it, although no listing has it', async () => {
    await using memory = await MemoryGateway.start({
      a: linkingServer('a', ['x://1']),
      b: linkingServer('b', ['x://2']),
    });
    await expect(read(memory, 'x://1')).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    expect(await callForLinks(memory, 'a')).toEqual(['x://1']);
    expect(await callForLinks(memory, 'b')).toEqual(['x://2']);
    expect(await read(memory, 'x://1')).toEqual({ uri: 'x://1', text: 'a read x://1' });
    expect(await read(memory, 'x://2')).toEqual({ uri: 'x://2', text: 'b read x://2' });
  });

  it('resource link: gets a server prefix when another server returned the same URI', async () => {
    await using memory = await MemoryGateway.start({
      a: linkingServer('a', ['x://1']),
      b: linkingServer('b', ['x://1']),
    });
    expect(await callForLinks(memory, 'a')).toEqual(['x://1']);
    expect(await callForLinks(memory, 'b')).toEqual(['trunkline://b/x://1']);
    expect(await read(memory, 'x://1')).toEqual({ uri: 'x://1', text: 'a read x://1' });
    expect(await read(memory, 'trunkline://b/x://1')).toEqual({
      uri: 'trunkline://b/x://1',
      text: 'b read x://1',
    });
    expect(await callForLinks(memory, 'b')).toEqual(['trunkline://b/x://1']);
  });

  it('resource link: gets a server prefix when another server lists the URI or has a template for it', async () => {
    await using memory = await MemoryGateway.start({
      a: linkingServer('a', ['listed://1', 'made://1', 'own://1']),
      b: linkingServer('b', [], {
        resources: [{ uri: 'listed://1', name: 'one' }],
        resourceTemplates: [{ uriTemplate: 'made://{x}', name: 'made' }],
      }),
    });
    expect(await callForLinks(memory, 'a')).toEqual([
      'trunkline://a/listed://1',
      'trunkline://a/made://1',
      'own://1',
    ]);
    expect(await read(memory, 'trunkline://a/listed://1')).toMatchObject({ text: 'a read listed://1' });
    expect(await read(memory, 'listed://1')).toMatchObject({ text: 'b read listed://1' });
    expect(await read(memory, 'made://1')).toMatchObject({ text: 'b read made://1' });
  });

  it('resource link: cannot impersonate the prefixed URI of another server', async () => {
    await using memory = await MemoryGateway.start({
      a: linkingServer('a', ['x://1']),
      evil: linkingServer('evil', ['trunkline://a/x://1', 'x://1']),
    });
    expect(await callForLinks(memory, 'evil')).toEqual(['trunkline://evil/trunkline://a/x://1', 'x://1']);
    expect(await callForLinks(memory, 'a')).toEqual(['trunkline://a/x://1']);
    expect(await read(memory, 'trunkline://a/x://1')).toMatchObject({ text: 'a read x://1' });
  });

  it('resource link: is readable only by the caller that received it', async () => {
    await using memory = await MemoryGateway.start({ a: linkingServer('a', ['x://1']) });
    await callForLinks(memory, 'a', ada);
    await expect(read(memory, 'x://1', bob)).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    expect(await read(memory, 'x://1', ada)).toMatchObject({ text: 'a read x://1' });
  });

  it('resource link: is readable and subscribable when it comes from a prompt', async () => {
    await using memory = await MemoryGateway.start({ a: linkingServer('a', ['x://1']) });
    const { gateway } = memory;
    await gateway.getPrompt(ada, 'a__links', request({ name: 'a__links' }));
    expect(await read(memory, 'x://1')).toMatchObject({ text: 'a read x://1' });
    using _subscription = await gateway.subscribe(ada, 'x://1', () => {});
    expect(memory.server('a').last('resources/subscribe').params).toEqual({ uri: 'x://1' });
  });

  it('resource link: is evicted after 1,000 newer links of the same server, not of other servers', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => `many://${index}`);
    await using memory = await MemoryGateway.start({
      a: linkingServer('a', ['first://1', ...many]),
      b: linkingServer('b', ['other://1']),
    });
    await callForLinks(memory, 'b');
    await callForLinks(memory, 'a');
    await expect(read(memory, 'first://1')).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    expect(await read(memory, 'many://0')).toMatchObject({ text: 'a read many://0' });
    expect(await read(memory, 'other://1')).toMatchObject({ text: 'b read other://1' });
  });

  it('resource link: leaves the result text unchanged when no URI needs a prefix', async () => {
    await using memory = await MemoryGateway.start({ a: linkingServer('a', ['x://1']) });
    const call = memory.gateway.callTool(ada, 'a__links', request({ name: 'a__links' }));
    expect((await call).text).toBe(
      '{"content":[{"type":"resource_link","uri":"x://1","name":"x://1"}],"big":1}',
    );
  });

  it('resource link: does not bypass a rule that hides resources', async () => {
    const deny = { id: 'no resources', effect: 'deny', who: {}, what: { kinds: ['resource'] } } as const;
    await using memory = await MemoryGateway.start(
      {
        a: linkingServer('a', ['x://1', 'listed://1', 'made://1'], {
          resources: [{ uri: 'listed://1', name: 'one' }],
          resourceTemplates: [{ uriTemplate: 'made://{x}', name: 'made' }],
        }),
      },
      { policy: { default: 'allow', rules: [deny] } },
    );
    const uris = (await callForLinks(memory, 'a')) as string[];
    for (const uri of uris) {
      await expect(read(memory, uri)).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
      const subscription = memory.gateway.subscribe(ada, uri, () => {});
      await expect(subscription).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    }
    expect(memory.server('a').received.filter(({ method }) => method === 'resources/read')).toEqual([]);
  });

  it('resource link: does not bypass a rule about the name of a listed resource', async () => {
    const deny = { id: 'no secrets', effect: 'deny', who: {}, what: { names: ['secret://{x}'] } } as const;
    await using memory = await MemoryGateway.start(
      {
        a: linkingServer('a', ['secret://1', 'open://1'], {
          resourceTemplates: [{ uriTemplate: 'secret://{x}', name: 'secret' }],
        }),
      },
      { policy: { default: 'allow', rules: [deny] } },
    );
    await callForLinks(memory, 'a');
    await expect(read(memory, 'secret://1')).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    expect(await read(memory, 'open://1')).toMatchObject({ text: 'a read open://1' });
  });

  it('resource link: is not readable through another profile of the same caller', async () => {
    const everything = { what: {} } as const;
    await using memory = await MemoryGateway.start(
      { a: linkingServer('a', ['x://1']) },
      { profiles: { wide: everything, narrow: everything } },
    );
    await callForLinks(memory, 'a', { ...ada, profile: 'wide' });
    const narrow = { ...ada, profile: 'narrow' };
    await expect(read(memory, 'x://1', narrow)).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    expect(await read(memory, 'x://1', { ...ada, profile: 'wide' })).toMatchObject({ text: 'a read x://1' });
  });

  it('resource link: costs little CPU time when a server lists hostile templates', async () => {
    const uriTemplate = `x://${'{a}x'.repeat(31)}{b}`;
    const links = Array.from({ length: 50 }, (_, index) => `x://${'x'.repeat(2000)}${index}!`);
    await using memory = await MemoryGateway.start({
      evil: linkingServer('evil', links, {
        resourceTemplates: Array.from({ length: 500 }, (_, index) => ({
          uriTemplate: `${uriTemplate}${index}`,
          name: 'x',
        })),
      }),
      good: linkingServer('good', [], { resourceTemplates: [{ uriTemplate: 'good://{x}', name: 'good' }] }),
    });
    const cpuMs = cpuStopwatch();
    const exposed = (await callForLinks(memory, 'evil')) as string[];
    expect(cpuMs()).toBeLessThan(500);
    expect(exposed).toHaveLength(links.length);
    // Every link still leads to the server that returned it, and other servers can be read.
    expect(await read(memory, exposed[49]!)).toMatchObject({ text: `evil read ${links[49]}` });
    expect(await read(memory, `good://${'x'.repeat(2000)}`)).toMatchObject({
      text: expect.stringMatching(/^good read/),
    });
  });
});
