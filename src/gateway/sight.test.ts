import { describe, expect, test } from 'vitest';

import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { PolicyConfig, RuleConfig, Selection } from '../config/policy-config.ts';
import { Cancellation } from '../lib/cancellation.ts';
import type { Caller } from '../model/caller.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { CallRequest } from './calls/call-request.ts';
import type { Served } from './served.ts';

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

const toolNames = (served: Served, caller: Caller): readonly string[] =>
  served.view(caller).tools.map(({ name }) => name);

describe('what a caller may not see', () => {
  test('is in no list, no search and no introduction', async () => {
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

  test('says nothing of servers where a caller is given single entries', async () => {
    const own = { what: { names: ['notes__get_note'] } };
    await using memory = await MemoryGateway.start({ notes: offer, other: offer }, { profiles: { own } });
    const caller = { ...anna, profile: 'own' };
    const { gateway } = memory;
    expect(gateway.view(caller).servers.map(({ name }) => name)).toEqual(['notes']);
    expect([...gateway.sight.all(caller).upstreams.keys()]).toEqual(['notes']);
    const names = ['notes', 'other', 'nobody'] as UpstreamName[];
    expect(names.map((name) => gateway.sight.knows(caller, name))).toEqual([true, false, false]);
    expect(names.map((name) => gateway.sight.knows(anna, name))).toEqual([true, true, true]);
  });

  test('cannot be called, and cannot be told from what does not exist', async () => {
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

  test('is not reached where one server is served alone either', async () => {
    await using memory = await start({ policy: deny({ servers: ['notes'], names: ['drop_*', 'summary'] }) });
    const alone = memory.gateway.alone('notes')!;
    expect(toolNames(alone, anna)).toEqual(['get_note']);
    for (const failure of [
      alone.callTool(anna, 'drop_note', request({ name: 'drop_note' })),
      alone.callTool(anna, 'never_listed', request({ name: 'never_listed' })),
      alone.getPrompt(anna, 'summary', request({ name: 'summary' })),
      alone.complete(anna, { type: 'ref/prompt', name: 'summary' }, request()),
    ])
      expect(await failureOf(failure)).toMatchObject({ code: 'ENTRY_NOT_FOUND' });
  });

  test('does not change the order of what is found', async () => {
    await using memory = await start({ policy: deny({ names: ['notes__drop_note'] }) });
    await using open = await start();
    const names = async ({ gateway }: MemoryGateway): Promise<readonly string[]> =>
      (await gateway.view(anna).search('drop a note', { limit: 50 })).map(({ entry }) => entry.name);
    const all = await names(open);
    expect(all).toHaveLength(4);
    expect(await names(memory)).toEqual(all.filter((name) => name !== 'notes__drop_note'));
  });
});

test('the same view is given while nothing changes, to all who may see the same', async () => {
  await using memory = await start();
  const { gateway } = memory;
  expect(gateway.view(reader)).toBe(gateway.view({ ...reader, id: 'someone else' }));
  expect(gateway.view(reader)).not.toBe(gateway.view(anna));
});

describe('at the server’s own path', () => {
  test('what is hidden cannot be followed', async () => {
    await using memory = await start({ policy: deny({ kinds: ['resource'] }) });
    for (const served of [memory.gateway, memory.gateway.alone('notes')])
      expect(await failureOf(served!.subscribe(anna, 'note:///one', () => {}))).toMatchObject({
        code: 'ENTRY_NOT_FOUND',
      });
    const open = await start();
    await using _ = open;
    const followed = await open.gateway.alone('notes')!.subscribe(anna, 'note:///one', () => {});
    followed[Symbol.dispose]();
  });

  test.each([
    ['a name that a lenient server takes for one', 'tools/call', { name: ['drop_note'] }],
    ['the name of a resource that is none', 'resources/read', { uri: ['note:///one'] }],
    ['a page that nobody judged', 'tools/list', { cursor: 'x' }],
    ['a method that no rule can speak of', 'notes/drop', {}],
  ])('%s does not get past a rule', async (_, method, params) => {
    await using memory = await start({ policy: deny({ names: ['drop_*'] }) });
    const alone = memory.gateway.alone('notes')!;
    const heard = memory.server('notes').heard.length;
    expect(await failureOf(alone.pass(anna, method, request(params)))).toBeInstanceOf(Error);
    expect(memory.server('notes').heard).toHaveLength(heard);
  });
});
