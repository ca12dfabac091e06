import { describe, expect, onTestFinished, test } from 'vitest';

import { eventually } from '../../../../test/support/eventually.ts';
import { MemoryOthers } from '../../../../test/support/memory-others.ts';
import { TestRoutes } from '../../../../test/support/mcp-routes.ts';
import type { Stream } from '../../../../test/support/mcp-routes.ts';
import { Payload } from '../../../lib/payload.ts';
import type { IncomingRequest } from '../../../wire/serving.ts';

/** Three gateways, and where they have written down which of them holds a stream. */
async function gateways(answers: Parameters<typeof TestRoutes.start>[0] = {}, resumeMs = 15_000) {
  const names = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'] as const;
  const all = new MemoryOthers(...names);
  const { dead } = all;
  const places = new Map<string, string>();
  const start = async (self: string): Promise<TestRoutes> => {
    const routes = await TestRoutes.start(answers, {
      resumeMs,
      sessionSecret: () => Promise.resolve(Buffer.alloc(32, 1)),
      between: {
        others: all.as(self),
        places: {
          find: (session) => Promise.resolve(places.get(session)),
          note: async (session) => {
            await new Promise((resolve) => setTimeout(resolve, 20));
            places.set(session, self);
          },
          forget: async (session) => void (places.get(session) === self && places.delete(session)),
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

describe('what belongs to no request', () => {
  test('is told once on the one stream, whichever gateways notice it', async () => {
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
  ])('%s is told by the gateway with the stream, which hears of it by itself', async (method, params) => {
    const { a, b } = await gateways();
    const session = await a.session();
    const held = await stream(b, session);
    await eventually(() => held.events.all.length === 0);
    a.connections[0]?.channel.notify(method, params);
    b.connections[0]?.channel.notify(method, params);
    await held.events.waitFor(({ data }) => data.includes(method));
    a.connections[0]?.channel.notify(...logged('file:///a'));
    await held.events.waitFor(({ data }) => data.includes('file:///a'));
    expect(held.events.all).toHaveLength(2);
    await held[Symbol.asyncDispose]();
  });

  test('is awaited on a stream from when the others know where it is', async () => {
    const { a, b, places } = await gateways();
    const session = await a.session();
    const held = await stream(b, session);
    expect([...places.values()]).toEqual(['bbbbbbbb']);
    await held[Symbol.asyncDispose]();
  });

  test('waits for a stream where there is none, and is told wherever one is opened', async () => {
    const { a, b } = await gateways();
    const session = await a.session();
    a.connections[0]?.channel.notify('notifications/tools/list_changed', undefined);
    const held = await stream(b, session);
    await held.events.waitFor(({ data }) => data.includes('tools/list_changed'));
    expect([held.events.all.length, b.connections[0]?.returned]).toEqual([1, 0]);
    await held[Symbol.asyncDispose]();
  });

  test('goes to the newest stream, and to an older one at another gateway when that is closed', async () => {
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

  test('is said to be unknown when the gateway that told it is gone, and others go on telling', async () => {
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
    // Whoever knows that there is nothing else says so.
    expect([first?.returned, a.connections[0]?.returned]).toEqual([0, 0]);
    await held[Symbol.asyncDispose]();
    await next[Symbol.asyncDispose]();
  });
});

describe('a message that needs no answer', () => {
  test('reaches the gateway whose question it answers, in its own session alone', async () => {
    const { a, b, dead } = await gateways();
    const [session, other] = [await a.session(), await a.session()];
    const answer = { jsonrpc: '2.0', id: 'aaaaaaaa.7', result: { big: 1 } };
    expect((await b.post(answer, session)).status).toBe(202);
    expect(a.connections[0]?.responses).toMatchObject([{ kind: 'result', id: 'aaaaaaaa.7' }]);
    expect(a.connections[1]?.responses).toEqual([]);
    expect((await b.post({ ...answer, id: 'bbbbbbbb.7' }, other)).status).toBe(202);
    dead.add('aaaaaaaa');
    const refused = await b.post(answer, session);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('gone')]);
  });

  test('is refused in the name of another caller', async () => {
    const { a, all } = await gateways();
    await a.session();
    const { id, caller } = a.opened[0] ?? { id: '', caller: '' };
    const text = '{"jsonrpc":"2.0","id":"aaaaaaaa.1","result":{}}';
    const say = (as: string) =>
      all.as('bbbbbbbb').ask('aaaaaaaa', 'session.message', { session: id, caller: as, text });
    expect(await say('somebody else')).toEqual({ isTaken: false });
    expect(a.connections[0]?.responses).toEqual([]);
    expect(await say(caller)).toEqual({ isTaken: true });
  });

  test('ends a request that another gateway works on', async () => {
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

describe('a stream that broke at one gateway', () => {
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

  test('goes on at another one, with what was missed and what follows', async () => {
    const { b, held, session, first } = await started();
    const lastEvent = idOf(first);
    await first[Symbol.asyncDispose]();
    held[0]?.notify(...progress(2));
    const second = await stream(b, { ...session, 'last-event-id': lastEvent });
    await second.events.waitFor(({ data }) => data.includes('"progress":2'));
    held[0]?.notify(...progress(3));
    held[0]?.result(Payload.of({ done: true }));
    await second.ended;
    expect(second.events.all.map(({ data }) => /"progress":\d|done/.exec(data)?.[0])).toEqual([
      '"progress":2',
      '"progress":3',
      'done',
    ]);
  });

  test('is broken there as well when its client goes, and goes on at a third', async () => {
    const { b, c, held, session, first } = await started();
    const lastEvent = idOf(first);
    await first[Symbol.asyncDispose]();
    const second = await stream(b, { ...session, 'last-event-id': lastEvent });
    await second[Symbol.asyncDispose]();
    const third = await stream(c, { ...session, 'last-event-id': lastEvent });
    held[0]?.result(Payload.of({ done: true }));
    await third.ended;
    expect(third.events.all.at(-1)?.data).toContain('done');
  });

  test('is given up when its client does not come back to any', async () => {
    const { b, held, session, first } = await started(300);
    const lastEvent = idOf(first);
    await first[Symbol.asyncDispose]();
    const second = await stream(b, { ...session, 'last-event-id': lastEvent });
    await second[Symbol.asyncDispose]();
    await eventually(() => held[0]?.cancellation.reason !== undefined);
    expect(held[0]?.cancellation.reason).toMatchObject({ code: 'CALL_CANCELLED' });
  });

  test('is over when nothing more will come, and its client is told what was lost with its gateway', async () => {
    const { a, b, held, session, first, dead } = await started();
    const lastEvent = idOf(first);
    dead.add('aaaaaaaa');
    const lost = await stream(b, { ...session, 'last-event-id': lastEvent });
    await lost.ended;
    expect(JSON.parse(lost.events.all[0]?.data ?? '')).toMatchObject({
      id: 'call',
      error: { message: expect.stringContaining('gone') as string },
    });
    dead.clear();
    held[0]?.result(Payload.of({ done: true }));
    await first.ended;
    const last = idOf(first);
    for (const one of [a, b])
      expect((await stream(one, { ...session, 'last-event-id': last })).status).toBe(405);
  });
});

/** Of the last event that came. */
function idOf({ events }: Pick<Stream, 'events'>): string {
  const id = events.all.at(-1)?.id;
  expect(id).toMatch(/^aaaaaaaa\.\d+-\d+\.[\w-]+$/);
  return id ?? '';
}
