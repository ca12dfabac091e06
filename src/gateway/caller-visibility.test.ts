import { describe, expect, test } from 'vitest';

import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { PolicyConfig, RuleConfig, Selection } from '../config/policy-config.ts';
import { Cancellation } from '../core/lib/cancellation.ts';
import type { Caller } from '../core/caller.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { CallRequest } from './calls/call-request.ts';
import type { Backend } from './backend.ts';

const anna: Caller = { id: 'anna', via: 'http', profile: 'default' };
const reader: Caller = { ...anna, id: 'rita', profile: 'reading' };

const offer = {
  tools: [
    { name: 'get_note', description: 'Gets a note.', annotations: { readOnlyHint: true } },
    { name: 'drop_note', description: 'Drops a note.', annotations: { destructiveHint: true } },
  ],
  prompts: [{ name: 'summary' }],
  resources: [{ uri: 'note:///one', name: 'one' }],
  resourceTemplates: [{ uriTemplate: 'note:///{id}', name: 'any' }],
  script: () => ({ content: [{ type: 'text', text: 'done' }] }),
};

const deny = (what: Selection): PolicyConfig => ({
  default: 'allow',
  rules: [{ id: 'no', effect: 'deny', who: {}, what } satisfies RuleConfig],
});

function start(settings: { policy?: PolicyConfig } = {}): Promise<MemoryGateway> {
  return MemoryGateway.start(
    { notes: offer, other: offer },
    {
      profiles: { reading: { what: { servers: ['notes'], tiers: ['read'] } } },
      ...settings,
    },
  );
}

const request = (params: JsonObject = {}): CallRequest => ({
  params,
  session: 's',
  cancellation: new Cancellation(),
});

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

const toolNames = (backend: Backend, caller: Caller): readonly string[] =>
  backend.view(caller).tools.map(({ name }) => name);

describe('caller visibility', () => {
  test('visibility: hides entries from lists, search and the server overview', async () => {
    await using memory = await start();
    const view = memory.gateway.view(reader);
    expect(toolNames(memory.gateway, reader)).toEqual(['notes__get_note']);
    expect(view.prompts.map(({ name }) => name)).toEqual(['notes__summary']);
    expect(view.resources.map(({ upstream }) => upstream)).toEqual(['notes']);
    expect(view.templates.map(({ upstream }) => upstream)).toEqual(['notes']);
    expect(view.servers.map(({ name }) => name)).toEqual(['notes']);
    expect(view.tool('other__get_note')).toBeUndefined();
    const hits = await view.search('drop a note', { limit: 50 });
    expect(hits.map(({ entry }) => entry.name)).toEqual(['notes__get_note']);
    expect(toolNames(memory.gateway, anna)).toHaveLength(4);
  });

  test('visibility: reveals only the servers of the entries that a profile names', async () => {
    const own = { what: { names: ['notes__get_note'] } };
    await using memory = await MemoryGateway.start({ notes: offer, other: offer }, { profiles: { own } });
    const caller = { ...anna, profile: 'own' };
    const { gateway } = memory;
    expect(gateway.view(caller).servers.map(({ name }) => name)).toEqual(['notes']);
    expect([...gateway.visibility.visibleTo(caller).upstreams.keys()]).toEqual(['notes']);
    const names = ['notes', 'other', 'nobody'] as UpstreamName[];
    expect(names.map((name) => gateway.visibility.canKnowServer(caller, name))).toEqual([true, false, false]);
    expect(names.map((name) => gateway.visibility.canKnowServer(anna, name))).toEqual([true, true, true]);
  });

  test('visibility: rejects calls of hidden entries like calls of entries that do not exist', async () => {
    await using memory = await start();
    const { gateway } = memory;
    const tool = await failureOf(gateway.callTool(reader, 'notes__drop_note', request()));
    await using without = await MemoryGateway.start({ notes: { ...offer, tools: offer.tools.slice(0, 1) } });
    const nothing = await failureOf(without.gateway.callTool(anna, 'notes__drop_note', request()));
    expect(nothing).toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    expect(tool).toEqual(nothing);
    for (const failure of [
      gateway.getPrompt(reader, 'other__summary', request()),
      gateway.readResource(reader, 'trunkline://other/note:///one', request()),
      gateway.complete(reader, { type: 'ref/prompt', name: 'other__summary' }, request()),
      gateway.subscribe(reader, 'trunkline://other/note:///one', () => {}),
    ])
      expect(await failureOf(failure)).toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    expect(await gateway.callTool(anna, 'notes__drop_note', request())).toBeDefined();
  });

  test('visibility: hides entries at the path of a single server', async () => {
    await using memory = await start({ policy: deny({ servers: ['notes'], names: ['drop_*', 'summary'] }) });
    const server = memory.gateway.singleServer('notes')!;
    expect(toolNames(server, anna)).toEqual(['get_note']);
    for (const failure of [
      server.callTool(anna, 'drop_note', request({ name: 'drop_note' })),
      server.callTool(anna, 'never_listed', request({ name: 'never_listed' })),
      server.getPrompt(anna, 'summary', request({ name: 'summary' })),
      server.complete(anna, { type: 'ref/prompt', name: 'summary' }, request()),
    ])
      expect(await failureOf(failure)).toMatchObject({ code: 'ENTRY_NOT_FOUND' });
  });

  test('visibility: keeps the order of search results when entries are hidden', async () => {
    await using memory = await start({ policy: deny({ names: ['notes__drop_note'] }) });
    await using open = await start();
    const names = async ({ gateway }: MemoryGateway): Promise<readonly string[]> =>
      (await gateway.view(anna).search('drop a note', { limit: 50 })).map(({ entry }) => entry.name);
    const all = await names(open);
    expect(all).toHaveLength(4);
    expect(await names(memory)).toEqual(all.filter((name) => name !== 'notes__drop_note'));
  });
});

test('view: is shared by all callers that may see the same entries', async () => {
  await using memory = await start();
  const { gateway } = memory;
  expect(gateway.view(reader)).toBe(gateway.view({ ...reader, id: 'another caller' }));
  expect(gateway.view(reader)).not.toBe(gateway.view(anna));
});

describe('single server path', () => {
  test('visibility: rejects subscriptions to hidden resources', async () => {
    await using memory = await start({ policy: deny({ kinds: ['resource'] }) });
    for (const backend of [memory.gateway, memory.gateway.singleServer('notes')])
      expect(await failureOf(backend!.subscribe(anna, 'note:///one', () => {}))).toMatchObject({
        code: 'ENTRY_NOT_FOUND',
      });
    const open = await start();
    await using _ = open;
    const subscription = await open.gateway.singleServer('notes')!.subscribe(anna, 'note:///one', () => {});
    subscription[Symbol.dispose]();
  });

  test.each([
    ['a tool name that is an array', 'tools/call', { name: ['drop_note'] }],
    ['a resource URI that is an array', 'resources/read', { uri: ['note:///one'] }],
    ['an unknown cursor', 'tools/list', { cursor: 'x' }],
    ['an unknown method', 'notes/drop', {}],
  ])('single server path: rejects %s instead of forwarding it past the rules', async (_, method, params) => {
    await using memory = await start({ policy: deny({ names: ['drop_*'] }) });
    const server = memory.gateway.singleServer('notes')!;
    const heardBefore = memory.server('notes').received.length;
    expect(await failureOf(server.forward(anna, method, request(params)))).toBeInstanceOf(Error);
    expect(memory.server('notes').received).toHaveLength(heardBefore);
  });
});
