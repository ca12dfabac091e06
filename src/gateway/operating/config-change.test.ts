import { describe, expect, test } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { MemoryGateway } from '../../../test/support/memory-gateway.ts';
import type { Offer } from '../../../test/support/memory-gateway.ts';
import type { MemoryServer } from '../../../test/support/memory-server.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import { deferred } from '../../lib/deferred.ts';
import type { Caller } from '../../model/caller.ts';
import type { Fingerprint } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ChangedLists } from '../view.ts';

const caller: Caller = { id: 'somebody', via: 'http', profile: 'default' };
const tool = (name: string): JsonObject => ({ name, inputSchema: { type: 'object' } });
const offer = (more: Partial<Offer> = {}): Offer => ({
  tools: [tool('look')],
  script: ({ method }) => (method === 'tools/call' ? { content: [] } : {}),
  ...more,
});
const request = (name: string) => ({
  params: { name, arguments: {} },
  session: 's',
  cancellation: new Cancellation(),
});
const namesOf = ({ gateway }: MemoryGateway): readonly string[] =>
  gateway.view(caller).tools.map(({ name }) => name);
const isClosed = ({ closes }: MemoryServer): boolean => closes > 0;
const elsewhere = { fingerprint: 'another' as Fingerprint };

/** A server whose calls are answered when the test says so. */
function slow() {
  const asked = deferred<void>();
  const answer = deferred<void>();
  const script: Offer['script'] = ({ method, id }, server) => {
    if (method !== 'tools/call') return {};
    asked.resolve();
    void answer.promise.then(() => server.answer(id, { content: [{ type: 'text', text: 'late' }] }));
    return undefined;
  };
  return { offer: offer({ script }), asked: asked.promise, answer };
}

describe('a gateway with another configuration', () => {
  test('leaves servers alone that are configured as before', async () => {
    await using memory = await MemoryGateway.start({ a: offer() });
    const before = memory.server('a');
    await memory.change({ a: offer(), b: offer() });
    await eventually(() => namesOf(memory).includes('b__look'), { what: 'The tools of b' });
    expect(memory.server('a')).toBe(before);
    expect(isClosed(before)).toBe(false);
    expect(memory.gateway.servers.names()).toEqual(['a', 'b']);
  });

  test('lets calls of a removed server end, refuses new ones, and forgets it', async () => {
    const { offer: own, asked, answer } = slow();
    await using memory = await MemoryGateway.start({ a: offer(), b: own });
    const call = memory.gateway.callTool(caller, 'b__look', request('b__look'));
    await asked;
    await memory.change({ a: offer() });
    expect([namesOf(memory), memory.gateway.servers.names(), memory.gateway.alone('b')]).toEqual([
      ['a__look'],
      ['a'],
      undefined,
    ]);
    await expect(memory.gateway.callTool(caller, 'b__look', request('b__look'))).rejects.toMatchObject({
      code: 'ENTRY_NOT_FOUND',
    });
    expect(isClosed(memory.server('b'))).toBe(false);
    answer.resolve();
    expect((await call).value).toEqual({ content: [{ type: 'text', text: 'late' }] });
    await eventually(() => isClosed(memory.server('b')), { what: 'The end of b' });
  });

  test('sends new calls of a changed server to a new connection, after the old one had its time', async () => {
    const { offer: own, asked, answer } = slow();
    await using memory = await MemoryGateway.start({ b: own }, { shutdownMs: 50 });
    const call = memory.gateway.callTool(caller, 'b__look', request('b__look'));
    await asked;
    const before = memory.server('b');
    await memory.change({ b: offer({ config: elsewhere }) }, { shutdownMs: 50 });
    await memory.gateway.callTool(caller, 'b__look', request('b__look'));
    expect(memory.server('b')).not.toBe(before);
    expect(isClosed(before)).toBe(false);
    answer.resolve();
    expect((await call).value).toMatchObject({ content: [{ text: 'late' }] });
    await eventually(() => isClosed(before), { what: 'The end of the old one' });
  });

  test('waits with the new connection for the end of the old one, when nothing is asked of that', async () => {
    await using memory = await MemoryGateway.start({ b: offer() });
    const before = memory.server('b');
    await memory.change({ b: offer({ config: elsewhere }) });
    await memory.gateway.callTool(caller, 'b__look', request('b__look'));
    expect([isClosed(before), memory.server('b') === before]).toEqual([true, false]);
  });

  test('hides at once what its rules hide, and says so', async () => {
    await using memory = await MemoryGateway.start({ a: offer() });
    const told: ChangedLists[] = [];
    memory.gateway.events.on('changed', (changed) => told.push(changed));
    const rule = { id: 'no', effect: 'deny', who: {}, what: { names: ['look'] } } as const;
    await memory.change({ a: offer() }, { policy: { default: 'allow', rules: [rule] } });
    expect(namesOf(memory)).toEqual([]);
    await expect(memory.gateway.callTool(caller, 'a__look', request('a__look'))).rejects.toMatchObject({
      code: 'ENTRY_NOT_FOUND',
    });
    await eventually(() => told.length > 0, { what: 'The announcement' });
    expect(told).toEqual([{ tools: true, prompts: true, resources: true, byRules: true }]);
  });

  test('says nothing about settings that nobody can see', async () => {
    await using memory = await MemoryGateway.start({ a: offer() });
    // What was listed at the start is told first.
    await new Promise((resolve) => memory.gateway.events.on('changed', resolve));
    let told = 0;
    memory.gateway.events.on('changed', () => told++);
    await memory.change({ a: offer() }, { maxCallMs: 5, log: { level: 'debug' } });
    await memory.gateway.callTool(caller, 'a__look', request('a__look'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(told).toBe(0);
  });

  test('has other words about a tool: in its list, in what differs, and in what is found by them', async () => {
    const words = (text: string): Offer =>
      offer({
        config: { tools: { allow: ['*'], deny: [], tiers: {}, describe: { look: { replace: text } } } },
      });
    await using memory = await MemoryGateway.start({ a: offer() });
    const view = () => memory.gateway.view(caller);
    const found = async (query: string) => (await view().search(query, { limit: 5 })).length;
    const digests = [view().digests.tools];
    for (const text of ['Weighs parcels.', 'Counts whales.']) {
      await memory.change({ a: words(text) });
      expect(view().tool('a__look')?.definition['description']).toBe(text);
      expect([await found('parcels'), await found('whales')]).toEqual(text.startsWith('W') ? [1, 0] : [0, 1]);
      digests.push(view().digests.tools);
    }
    expect(new Set(digests).size).toBe(3);
  });

  test('gives tools other names, and finds them by those', async () => {
    await using memory = await MemoryGateway.start({ a: offer() });
    await memory.change({ a: offer() }, { names: { separator: '-' } });
    expect(namesOf(memory)).toEqual(['a-look']);
    const hits = await memory.gateway.view(caller).search('look', { limit: 5 });
    expect(hits.map(({ entry }) => entry.name)).toEqual(['a-look']);
  });

  test('has other deadlines and other limits for the next call, and not for one that runs', async () => {
    const { offer: own, asked, answer } = slow();
    await using memory = await MemoryGateway.start({ a: own });
    const first = memory.gateway.callTool(caller, 'a__look', request('a__look'));
    await asked;
    const config = { timeouts: { connectMs: 1000, callMs: 50 } };
    await memory.change({ a: { ...own, config } });
    await expect(memory.gateway.callTool(caller, 'a__look', request('a__look'))).rejects.toMatchObject({
      code: 'CALL_TIMEOUT',
    });
    answer.resolve();
    expect((await first).value).toMatchObject({ content: [{ text: 'late' }] });
  });

  test('refuses a call that waited for its turn at a server that is gone', async () => {
    const { offer: own, asked, answer } = slow();
    const limits = {
      concurrency: 1,
      waiting: 5,
      rate: 0,
      argumentBytes: 0,
      resultBytes: 0,
      sessions: 10,
      isOfFleet: false,
    };
    await using memory = await MemoryGateway.start({ b: { ...own, config: { limits } } });
    const first = memory.gateway.callTool(caller, 'b__look', request('b__look'));
    await asked;
    const second = memory.gateway
      .callTool(caller, 'b__look', request('b__look'))
      .catch((error: unknown) => error);
    await memory.change({});
    answer.resolve();
    await first;
    expect(await second).toMatchObject({
      code: 'ENTRY_NOT_FOUND',
      message: expect.stringContaining('not in the configuration any more') as unknown,
    });
  });
});
