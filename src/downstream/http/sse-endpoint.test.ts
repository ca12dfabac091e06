import { describe, expect, it } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { TestRoutes } from '../../../test/support/mcp-routes.ts';
import type { Stream } from '../../../test/support/mcp-routes.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { IncomingRequest } from '../../protocol/client-connection.ts';

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

describe('HTTP+SSE transport', () => {
  it('HTTP+SSE: sends its endpoint first and responds on the stream', async () => {
    await using test = await TestRoutes.start({
      report: (request) => {
        request.notify('notifications/progress', { progress: 1 });
        request.sendResult(Payload.of({ done: true }));
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

  it('HTTP+SSE: ends the session and its requests with the stream', async () => {
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

  it('HTTP+SSE: sends keep-alive comments and ends the session of a client that does not read', async () => {
    await using test = await TestRoutes.start({}, { keepAliveMs: 5, maxSessions: 1 });
    const { stream, post } = await open(test);
    await eventually(() => stream.comments.all.length > 1);
    await post(initialize);
    stream.message.pause();
    test.connections[0]?.channel.notify('notifications/message', { text: 'x'.repeat(8_000_000) });
    await eventually(() => test.connections[0]?.closed === 1);
    expect(test.logged).toEqual(['Disconnected a client that did not read its responses.']);
    expect(await post(initialize)).toBe(404);
    // The slot is free for the next session.
    await using next = (await open(test)).stream;
    expect(next.events.all).toHaveLength(1);
  });

  it('HTTP+SSE: responds once, however often the handler responds', async () => {
    await using test = await TestRoutes.start({
      eager: (request) => {
        request.sendResult(Payload.of({ first: true }));
        request.sendResult(Payload.of({ second: true }));
        request.sendError({ code: 1, message: 'third' });
        request.notify('notifications/late', undefined);
      },
    });
    const { stream, post } = await open(test);
    await post({ jsonrpc: '2.0', id: 1, method: 'eager' });
    await post({ jsonrpc: '2.0', id: 2, method: 'ping' });
    await stream.events.waitFor(({ data }) => data.includes('ping'));
    expect(stream.events.all.slice(1).map(({ data }) => JSON.parse(data).id)).toEqual([1, 2]);
  });

  it('HTTP+SSE: cancels a request by notification', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start({ slow: (request) => void held.push(request) });
    const { post } = await open(test);
    await post({ jsonrpc: '2.0', id: 'a', method: 'slow' });
    await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } });
    expect(held[0]?.cancellation.reason).toBeDefined();
  });

  it('HTTP+SSE: rejects messages without a session, wrong methods and malformed messages', async () => {
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

  it('HTTP+SSE: does not accept a streamable HTTP session, nor the other way round', async () => {
    await using test = await TestRoutes.start();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const session = await test.session();
    const path = `/messages?sessionId=${session['mcp-session-id']}`;
    expect((await test.send('POST', path, { body })).status).toBe(404);
    expect((await test.send('POST', '/mcp', { body, headers: session })).status).toBe(200);
    const { stream, post } = await open(test);
    const id = /sessionId=(.*)$/.exec(stream.events.all[0]?.data ?? '')?.[1] ?? '';
    const headers = { ...session, 'mcp-session-id': id };
    for (const method of ['POST', 'GET', 'DELETE'])
      expect(
        (await test.send(method, '/mcp', { headers, ...(method === 'POST' && { body }) })).status,
        method,
      ).toBe(404);
    expect(await post(initialize)).toBe(202);
  });

  it('HTTP+SSE: accepts batches of 2025-03-26', async () => {
    await using test = await TestRoutes.start();
    const { stream, post } = await open(test);
    await post({ ...initialize, params: { protocolVersion: '2025-03-26' } });
    await stream.events.waitFor(({ data }) => data.includes('protocolVersion'));
    expect(await post([{ jsonrpc: '2.0', id: 1, method: 'a' }, { id: 2 }])).toBe(202);
    await stream.events.waitFor(({ data }) => data.includes('-32600'));
  });
});
