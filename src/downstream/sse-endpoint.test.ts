import { describe, expect, it } from 'vitest';

import { eventually } from '../../test/support/eventually.ts';
import { TestRoutes } from '../../test/support/mcp-routes.ts';
import type { Stream } from '../../test/support/mcp-routes.ts';
import { Payload } from '../lib/payload.ts';
import type { IncomingRequest } from '../wire/serving.ts';

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2024-11-05' },
};

async function open(
  test: TestRoutes,
): Promise<{ stream: Stream; post: (message: unknown) => Promise<number> }> {
  const stream = await test.stream('GET', '/sse', { headers: { accept: 'text/event-stream' } });
  const { data } = await stream.events.waitFor(({ event }) => event === 'endpoint');
  const post = async (message: unknown) =>
    (await test.send('POST', data, { body: JSON.stringify(message) })).status;
  return { stream, post };
}

describe('HTTP+SSE', () => {
  it('tells its address first and answers everything on the stream', async () => {
    await using test = await TestRoutes.start({
      report: (request) => {
        request.notify('notifications/progress', { progress: 1 });
        request.result(Payload.of({ done: true }));
      },
    });
    const { stream, post } = await open(test);
    expect(stream.events.all[0]?.data).toMatch(/^\/messages\?sessionId=[\w-]{22}$/);
    expect(await post(initialize)).toBe(202);
    expect(await post({ jsonrpc: '2.0', id: 1, method: 'report' })).toBe(202);
    expect(await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).toBe(202);
    await stream.events.waitFor(({ data }) => data.includes('done'));
    test.connections[0]?.channel.notify('notifications/tools/list_changed', undefined);
    await stream.events.waitFor(({ data }) => data.includes('list_changed'));
    expect(stream.events.all.slice(1).map(({ event }) => event)).toEqual(Array(4).fill('message'));
    expect(test.connections).toMatchObject([{ path: '/sse', notifications: [{}] }]);
  });

  it('ends the session and its requests with the stream', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start(
      { slow: (request) => void held.push(request) },
      { maxSessions: 1 },
    );
    const { stream, post } = await open(test);
    await post({ jsonrpc: '2.0', id: 1, method: 'slow' });
    expect((await test.send('GET', '/sse')).status).toBe(503);
    await stream[Symbol.asyncDispose]();
    await eventually(() => test.connections[0]?.closed === 1);
    expect(held[0]?.cancellation.reason).toMatchObject({ code: 'CALL_CANCELLED' });
    expect(await post(initialize)).toBe(404);
  });

  it('is kept alive by comments, and cut with its session when the client takes nothing for long', async () => {
    await using test = await TestRoutes.start({}, { keepAliveMs: 5, maxSessions: 1 });
    const { stream, post } = await open(test);
    await eventually(() => stream.comments.all.length > 1);
    await post(initialize);
    stream.message.pause();
    test.connections[0]?.channel.notify('notifications/message', { text: 'x'.repeat(8_000_000) });
    await eventually(() => test.connections[0]?.closed === 1);
    expect(test.logged).toEqual(['A client did not read its answers and was cut off.']);
    expect(await post(initialize)).toBe(404);
    // Its place is free for the next one.
    await using next = (await open(test)).stream;
    expect(next.events.all).toHaveLength(1);
  });

  it('answers once, however often an answer is given', async () => {
    await using test = await TestRoutes.start({
      eager: (request) => {
        request.result(Payload.of({ first: true }));
        request.result(Payload.of({ second: true }));
        request.error({ code: 1, message: 'third' });
        request.notify('notifications/late', undefined);
      },
    });
    const { stream, post } = await open(test);
    await post({ jsonrpc: '2.0', id: 1, method: 'eager' });
    await post({ jsonrpc: '2.0', id: 2, method: 'ping' });
    await stream.events.waitFor(({ data }) => data.includes('ping'));
    expect(stream.events.all.slice(1).map(({ data }) => JSON.parse(data).id)).toEqual([1, 2]);
  });

  it('cancels by notification', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start({ slow: (request) => void held.push(request) });
    const { post } = await open(test);
    await post({ jsonrpc: '2.0', id: 'a', method: 'slow' });
    await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } });
    expect(held[0]?.cancellation.reason).toBeDefined();
  });

  it('refuses what it cannot place', async () => {
    await using test = await TestRoutes.start();
    const { post } = await open(test);
    expect((await test.send('POST', '/messages', { body: '{}' })).status).toBe(400);
    expect((await test.send('POST', '/messages?sessionId=x', { body: '{}' })).status).toBe(404);
    expect((await test.send('GET', '/messages?sessionId=x')).status).toBe(405);
    expect((await test.send('POST', '/sse', { body: '{}' })).status).toBe(405);
    expect((await test.send('GET', '/sse', { headers: { accept: 'application/json' } })).status).toBe(406);
    expect(await post([initialize])).toBe(400);
    expect(await post({ id: 1 })).toBe(400);
  });

  it('does not know the sessions of the other transport, nor the other way round', async () => {
    await using test = await TestRoutes.start();
    const session = await test.session();
    const path = `/messages?sessionId=${session['mcp-session-id']}`;
    expect((await test.send('POST', path, { body: JSON.stringify(initialize) })).status).toBe(404);
  });

  it('takes batches of 2025-03-26', async () => {
    await using test = await TestRoutes.start();
    const { stream, post } = await open(test);
    await post({ ...initialize, params: { protocolVersion: '2025-03-26' } });
    await stream.events.waitFor(({ data }) => data.includes('protocolVersion'));
    expect(await post([{ jsonrpc: '2.0', id: 1, method: 'a' }, { id: 2 }])).toBe(202);
    await stream.events.waitFor(({ data }) => data.includes('-32600'));
  });
});
