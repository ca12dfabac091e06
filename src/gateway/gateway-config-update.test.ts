import { describe, expect, test } from 'vitest';

import { eventually } from '../../test/support/eventually.ts';
import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { Offer } from '../../test/support/memory-gateway.ts';
import type { MemoryServer } from '../../test/support/memory-server.ts';
import { Cancellation } from '../core/lib/cancellation.ts';
import { deferred } from '../core/lib/deferred.ts';
import type { Caller } from '../core/caller.ts';
import type { Fingerprint } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { ChangedLists } from './catalog-view.ts';

const caller: Caller = { id: 'anna', via: 'http', profile: 'default' };
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
const otherServer = { fingerprint: 'another' as Fingerprint };

/** A server that answers calls when the test resolves `answer`. */
function slowServer() {
  const called = deferred<void>();
  const answer = deferred<void>();
  const script: Offer['script'] = ({ method, id }, server) => {
    if (method !== 'tools/call') return {};
    called.resolve();
    void answer.promise.then(() => server.answer(id, { content: [{ type: 'text', text: 'late' }] }));
    return undefined;
  };
  return { offer: offer({ script }), called: called.promise, answer };
}

describe('configuration change', () => {
  test('config change: keeps the connections of unchanged servers', async () => {
    await using memory = await MemoryGateway.start({ a: offer() });
    const before = memory.server('a');
    await memory.change({ a: offer(), b: offer() });
    await eventually(() => namesOf(memory).includes('b__look'), { what: 'The tools of b' });
    expect(memory.server('a')).toBe(before);
    expect(isClosed(before)).toBe(false);
    expect(memory.gateway.servers.names()).toEqual(['a', 'b']);
  });

  test('config change: lets running calls of a removed server finish and rejects new ones', async () => {
    const { offer: slowOffer, called, answer } = slowServer();
    await using memory = await MemoryGateway.start({ a: offer(), b: slowOffer });
    const call = memory.gateway.callTool(caller, 'b__look', request('b__look'));
    await called;
    await memory.change({ a: offer() });
    expect([namesOf(memory), memory.gateway.servers.names(), memory.gateway.singleServer('b')]).toEqual([
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

  test('config change: sends new calls of a changed server to a new connection while old calls finish', async () => {
    const { offer: slowOffer, called, answer } = slowServer();
    await using memory = await MemoryGateway.start({ b: slowOffer }, { shutdownMs: 50 });
    const call = memory.gateway.callTool(caller, 'b__look', request('b__look'));
    await called;
    const before = memory.server('b');
    await memory.change({ b: offer({ config: otherServer }) }, { shutdownMs: 50 });
    await memory.gateway.callTool(caller, 'b__look', request('b__look'));
    expect(memory.server('b')).not.toBe(before);
    expect(isClosed(before)).toBe(false);
    answer.resolve();
    expect((await call).value).toMatchObject({ content: [{ text: 'late' }] });
    await eventually(() => isClosed(before), { what: 'The end of the old one' });
  });

  test('config change: closes an unused old connection before it opens the new one', async () => {
    await using memory = await MemoryGateway.start({ b: offer() });
    const before = memory.server('b');
    await memory.change({ b: offer({ config: otherServer }) });
    await memory.gateway.callTool(caller, 'b__look', request('b__look'));
    expect([isClosed(before), memory.server('b') === before]).toEqual([true, false]);
  });

  test('config change: hides newly denied tools at once and announces the change', async () => {
    await using memory = await MemoryGateway.start({ a: offer() });
    const changes: ChangedLists[] = [];
    memory.gateway.events.on('changed', (changed) => changes.push(changed));
    const rule = { id: 'no', effect: 'deny', who: {}, what: { names: ['look'] } } as const;
    await memory.change({ a: offer() }, { policy: { default: 'allow', rules: [rule] } });
    expect(namesOf(memory)).toEqual([]);
    await expect(memory.gateway.callTool(caller, 'a__look', request('a__look'))).rejects.toMatchObject({
      code: 'ENTRY_NOT_FOUND',
    });
    await eventually(() => changes.length > 0, { what: 'The announcement' });
    expect(changes).toEqual([{ tools: true, prompts: true, resources: true, isPolicyChange: true }]);
  });

  test('config change: announces nothing when only invisible settings change', async () => {
    await using memory = await MemoryGateway.start({ a: offer() });
    // The listing at the start is announced first.
    await new Promise((resolve) => memory.gateway.events.on('changed', resolve));
    let changes = 0;
    memory.gateway.events.on('changed', () => changes++);
    await memory.change({ a: offer() }, { maxCallMs: 5, log: { level: 'debug' } });
    await memory.gateway.callTool(caller, 'a__look', request('a__look'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(changes).toBe(0);
  });

  test('config change: applies new tool descriptions to listing, digest and search', async () => {
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

  test('config change: renames tools and finds them under their new names', async () => {
    await using memory = await MemoryGateway.start({ a: offer() });
    await memory.change({ a: offer() }, { names: { separator: '-' } });
    expect(namesOf(memory)).toEqual(['a-look']);
    const hits = await memory.gateway.view(caller).search('look', { limit: 5 });
    expect(hits.map(({ entry }) => entry.name)).toEqual(['a-look']);
  });

  test('config change: applies new timeouts to the next call, not to running calls', async () => {
    const { offer: slowOffer, called, answer } = slowServer();
    await using memory = await MemoryGateway.start({ a: slowOffer });
    const first = memory.gateway.callTool(caller, 'a__look', request('a__look'));
    await called;
    const config = { timeouts: { connectMs: 1000, callMs: 50 } };
    await memory.change({ a: { ...slowOffer, config } });
    await expect(memory.gateway.callTool(caller, 'a__look', request('a__look'))).rejects.toMatchObject({
      code: 'CALL_TIMEOUT',
    });
    answer.resolve();
    expect((await first).value).toMatchObject({ content: [{ text: 'late' }] });
  });

  test('config change: rejects a queued call when its server is removed', async () => {
    const { offer: slowOffer, called, answer } = slowServer();
    const limits = {
      concurrency: 1,
      waiting: 5,
      rate: 0,
      argumentBytes: 0,
      resultBytes: 0,
      sessions: 10,
      isFleetWide: false,
    };
    await using memory = await MemoryGateway.start({ b: { ...slowOffer, config: { limits } } });
    const first = memory.gateway.callTool(caller, 'b__look', request('b__look'));
    await called;
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
