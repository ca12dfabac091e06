import { describe, expect, onTestFinished, test } from 'vitest';

import { eventually } from '../../../../test/support/eventually.ts';
import { MemoryReplicas } from '../../../../test/support/memory-replicas.ts';
import { TestRoutes } from '../../../../test/support/mcp-routes.ts';
import type { Stream } from '../../../../test/support/mcp-routes.ts';
import { Payload } from '../../../core/lib/payload.ts';
import type { IncomingRequest } from '../../../protocol/client-connection.ts';

/** Starts three replicas and a shared record of which of them holds a stream. */
async function gateways(answers: Parameters<typeof TestRoutes.start>[0] = {}, resumeMs = 15_000) {
  const names = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'] as const;
  const all = new MemoryReplicas(...names);
  const { dead } = all;
  const places = new Map<string, string>();
  const start = async (self: string): Promise<TestRoutes> => {
    const routes = await TestRoutes.start(answers, {
      resumeMs,
      sessionSecret: () => Promise.resolve(Buffer.alloc(32, 1)),
      replicas: {
        replicas: all.as(self),
        locations: {
          find: (session) => Promise.resolve(places.get(session)),
          record: async (session) => {
            await new Promise((resolve) => setTimeout(resolve, 20));
            places.set(session, self);
          },
          remove: async (session) => void (places.get(session) === self && places.delete(session)),
        },
      },
    });
    onTestFinished(() => routes[Symbol.asyncDispose]());
    return routes;
  };
  const [a, b, c] = [await start(names[0]), await start(names[1]), await start(names[2])];
  return { a, b, c, all, dead, places };
}

const stream = (at: TestRoutes, headers: Record<string, string>) =>
  at.stream('GET', '/mcp', { headers: { accept: 'text/event-stream', ...headers } });
const logged = (data: string) => ['notifications/message', { level: 'info', data }] as const;
const request = { jsonrpc: '2.0', id: 'call', method: 'call' };
const both = { accept: 'application/json, text/event-stream' };

describe('unsolicited notifications in a fleet', () => {
  test("fleet notification: is delivered once on the client's only stream, whichever replicas send it", async () => {
    const { a, b, c } = await gateways();
    const session = await a.session();
    for (const one of [b, c]) expect((await one.post({ ...request, method: 'x' }, session)).status).toBe(200);
    const held = await stream(b, session);
    const channels = [a, b, c].map((one) => one.connections.at(-1)?.channel);
    await eventually(() => {
      channels[0]?.notify('notifications/message', { data: Math.random() });
      return held.events.all.length > 0;
    });
    for (const uri of ['file:///1', 'file:///2'])
      for (const channel of channels) channel?.notify(...logged(uri));
    await held.events.waitFor(({ data }) => data.includes('file:///2'));
    channels[2]?.notify(...logged('file:///last'));
    await held.events.waitFor(({ data }) => data.includes('file:///last'));
    const told = held.events.all.map(({ data }) => /file:\/\/\/\w+/.exec(data)?.[0]).filter(Boolean);
    expect(told).toEqual(['file:///1', 'file:///2', 'file:///last']);
    await held[Symbol.asyncDispose]();
  });

  test.each([
    ['notifications/tools/list_changed', undefined],
    ['notifications/resources/updated', { uri: 'file:///x' }],
  ])('fleet notification: %s comes only from the replica that holds the stream', async (method, params) => {
    const { a, b } = await gateways();
    const session = await a.session();
    const held = await stream(b, session);
    // What one replica says arrives in its order, so the first of these would be here before the second.
    a.connections[0]?.channel.notify(method, params);
    a.connections[0]?.channel.notify(...logged('file:///a'));
    await held.events.waitFor(({ data }) => data.includes('file:///a'));
    expect(held.events.all).toHaveLength(1);
    b.connections[0]?.channel.notify(method, params);
    await held.events.waitFor(({ data }) => data.includes(method));
    expect(held.events.all).toHaveLength(2);
    await held[Symbol.asyncDispose]();
  });

  test('fleet stream: is registered before it opens', async () => {
    const { a, b, places } = await gateways();
    const session = await a.session();
    const held = await stream(b, session);
    expect([...places.values()]).toEqual(['bbbbbbbb']);
    await held[Symbol.asyncDispose]();
  });

  test('fleet notification: waits for a stream and is delivered at whichever replica it opens', async () => {
    const { a, b } = await gateways();
    const session = await a.session();
    a.connections[0]?.channel.notify('notifications/tools/list_changed', undefined);
    const held = await stream(b, session);
    await held.events.waitFor(({ data }) => data.includes('tools/list_changed'));
    expect([held.events.all.length, b.connections[0]?.returned]).toEqual([1, 0]);
    await held[Symbol.asyncDispose]();
  });

  test('fleet notification: goes to the newest stream and falls back to an older one at another replica', async () => {
    const { a, b, places } = await gateways();
    const session = await a.session();
    const older = await stream(a, session);
    const newer = await stream(b, session);
    await eventually(() => [...places.values()].join() === 'bbbbbbbb');
    a.connections[0]?.channel.notify(...logged('file:///1'));
    await newer.events.waitFor(({ data }) => data.includes('file:///1'));
    await newer[Symbol.asyncDispose]();
    await eventually(() => [...places.values()].join() === 'aaaaaaaa');
    b.connections[0]?.channel.notify(...logged('file:///2'));
    await older.events.waitFor(({ data }) => data.includes('file:///2'));
    expect(older.events.all).toHaveLength(1);
    await older[Symbol.asyncDispose]();
  });

  test('fleet stream: announces all lists again when the replica with the previous stream is gone', async () => {
    const { a, b, c, dead } = await gateways();
    const session = await a.session();
    const held = await stream(b, session);
    const first = b.connections[0];
    dead.add('bbbbbbbb');
    a.connections[0]?.channel.notify('notifications/prompts/list_changed', undefined);
    const next = await stream(c, session);
    await eventually(() => c.connections[0]?.returned === 1);
    a.connections[0]?.channel.notify(...logged('file:///told'));
    await next.events.waitFor(({ data }) => data.includes('file:///told'));
    // A replica that knows what the client received does not announce again.
    expect([first?.returned, a.connections[0]?.returned]).toEqual([0, 0]);
    await held[Symbol.asyncDispose]();
    await next[Symbol.asyncDispose]();
  });
});

describe('messages without a response in a fleet', () => {
  test('fleet response: reaches the replica that asked, in its own session only', async () => {
    const { a, b, dead } = await gateways();
    const [session, other] = [await a.session(), await a.session()];
    const answer = { jsonrpc: '2.0', id: 'aaaaaaaa.7', result: { big: 1 } };
    expect((await b.post(answer, session)).status).toBe(202);
    expect(a.connections[0]?.responses).toMatchObject([{ kind: 'result', id: 'aaaaaaaa.7' }]);
    expect(a.connections[1]?.responses).toEqual([]);
    expect((await b.post({ ...answer, id: 'bbbbbbbb.7' }, other)).status).toBe(202);
    dead.add('aaaaaaaa');
    const refused = await b.post(answer, session);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('has stopped')]);
  });

  test('fleet response: is rejected in the name of another caller', async () => {
    const { a, all } = await gateways();
    await a.session();
    const { id, caller } = a.opened[0] ?? { id: '', caller: '' };
    const text = '{"jsonrpc":"2.0","id":"aaaaaaaa.1","result":{}}';
    const say = (as: string) =>
      all.as('bbbbbbbb').request('aaaaaaaa', 'session.message', { session: id, caller: as, text });
    expect(await say('somebody else')).toEqual({ isTaken: false });
    expect(a.connections[0]?.responses).toEqual([]);
    expect(await say(caller)).toEqual({ isTaken: true });
  });

  test('fleet cancellation: ends a request that another replica handles', async () => {
    const held: IncomingRequest[] = [];
    const { a, b } = await gateways({ call: (asked) => void held.push(asked) });
    const session = await a.session();
    const waiting = a.post(request, { ...session, ...both });
    await eventually(() => held.length === 1);
    const params = { requestId: 'call' };
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params };
    expect((await b.post(cancelled, session)).status).toBe(202);
    await waiting;
    expect(held[0]?.cancellation.reason).toMatchObject({ code: 'CALL_CANCELLED' });
  });
});

describe('streams that break in a fleet', () => {
  const progress = (n: number) => ['notifications/progress', { progressToken: 1, progress: n }] as const;

  async function started(resumeMs?: number) {
    const held: IncomingRequest[] = [];
    const call = (asked: IncomingRequest): void => {
      held.push(asked);
      asked.notify(...progress(1));
    };
    const world = await gateways({ call }, resumeMs);
    const session = await world.a.session();
    const options = { headers: { ...session, ...both }, body: JSON.stringify(request) };
    const first = await world.a.stream('POST', '/mcp', options);
    await first.events.waitFor(({ data }) => data.includes('"progress":1'));
    return { ...world, held, session, first };
  }

  test('fleet resume: continues at another replica with missed and new messages', async () => {
    const { b, held, session, first } = await started();
    const lastEvent = idOf(first);
    await first[Symbol.asyncDispose]();
    held[0]?.notify(...progress(2));
    const second = await stream(b, { ...session, 'last-event-id': lastEvent });
    await second.events.waitFor(({ data }) => data.includes('"progress":2'));
    held[0]?.notify(...progress(3));
    held[0]?.sendResult(Payload.of({ done: true }));
    await second.ended;
    expect(second.events.all.map(({ data }) => /"progress":\d|done/.exec(data)?.[0])).toEqual([
      '"progress":2',
      '"progress":3',
      'done',
    ]);
  });

  test('fleet resume: continues at a third replica after breaking again', async () => {
    const { b, c, held, session, first } = await started();
    const lastEvent = idOf(first);
    await first[Symbol.asyncDispose]();
    const second = await stream(b, { ...session, 'last-event-id': lastEvent });
    await second[Symbol.asyncDispose]();
    const third = await stream(c, { ...session, 'last-event-id': lastEvent });
    held[0]?.sendResult(Payload.of({ done: true }));
    await third.ended;
    expect(third.events.all.at(-1)?.data).toContain('done');
  });

  test('fleet resume: cancels the call when the client returns to no replica', async () => {
    const { b, held, session, first } = await started(300);
    const lastEvent = idOf(first);
    await first[Symbol.asyncDispose]();
    const second = await stream(b, { ...session, 'last-event-id': lastEvent });
    await second[Symbol.asyncDispose]();
    await eventually(() => held[0]?.cancellation.reason !== undefined);
    expect(held[0]?.cancellation.reason).toMatchObject({ code: 'CALL_CANCELLED' });
  });

  test('fleet resume: reports a dead replica as an error and ends after the response', async () => {
    const { a, b, held, session, first, dead } = await started();
    const lastEvent = idOf(first);
    dead.add('aaaaaaaa');
    const lost = await stream(b, { ...session, 'last-event-id': lastEvent });
    await lost.ended;
    expect(JSON.parse(lost.events.all[0]?.data ?? '')).toMatchObject({
      id: 'call',
      error: { message: expect.stringContaining('has stopped') as string },
    });
    dead.clear();
    held[0]?.sendResult(Payload.of({ done: true }));
    await first.ended;
    const last = idOf(first);
    for (const one of [a, b])
      expect((await stream(one, { ...session, 'last-event-id': last })).status).toBe(405);
  });
});

/** Returns the id of the last event. */
function idOf({ events }: Pick<Stream, 'events'>): string {
  const id = events.all.at(-1)?.id;
  expect(id).toMatch(/^aaaaaaaa\.\d+-\d+\.[\w-]+$/);
  return id ?? '';
}
