import { connect as connectSocket } from 'node:net';

import { describe, expect, it } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { openUnread } from '../../../test/support/hostile-server.ts';
import { TestRoutes } from '../../../test/support/mcp-routes.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { IncomingRequest } from '../../protocol/client-connection.ts';

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } };
const both = 'application/json, text/event-stream';

function reporting(request: IncomingRequest): void {
  request.notify('notifications/progress', { progress: 1 });
  request.notify('notifications/progress', { progress: 2 });
  request.sendResult(Payload.of({ done: true }));
}

describe('sessions', () => {
  it('session: starts with initialize, which returns its id', async () => {
    await using test = await TestRoutes.start();
    const { status, headers, messages } = await test.post({
      jsonrpc: '2.0',
      id: 'init',
      method: 'initialize',
      params: { protocolVersion: '2025-06-18' },
    });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['mcp-session-id']).toMatch(/^[\w.-]{100,1000}$/);
    expect(messages).toMatchObject([{ id: 'init', result: { protocolVersion: '2025-06-18' } }]);
    expect(test.connections).toMatchObject([{ path: '/mcp', closed: 0 }]);
  });

  it('session: keeps one connection for all messages', async () => {
    await using test = await TestRoutes.start();
    const session = await test.session();
    await test.post(call, session);
    const accepted = await test.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session);
    expect(accepted).toMatchObject({ status: 202, text: '' });
    expect((await test.post({ jsonrpc: '2.0', id: 5, result: { a: 1 } }, session)).status).toBe(202);
    expect(test.connections).toHaveLength(1);
    expect(test.connections[0]?.notifications).toEqual([
      { method: 'notifications/initialized', params: undefined },
    ]);
    expect(test.connections[0]?.responses).toMatchObject([{ kind: 'result', id: 5 }]);
  });

  it('session: is required and must exist', async () => {
    await using test = await TestRoutes.start();
    const missing = await test.post(call);
    expect(missing).toMatchObject({ status: 400, messages: [{ id: 1, error: { code: -32600 } }] });
    const unknown = await test.post(call, { 'mcp-session-id': 'no\tsuch' });
    expect(unknown).toMatchObject({ status: 404, messages: [{ id: 1 }] });
    expect((await test.send('GET', '/mcp', { headers: { accept: 'text/event-stream' } })).status).toBe(400);
    expect((await test.send('DELETE', '/mcp', { headers: { 'mcp-session-id': 'x' } })).status).toBe(404);
  });

  it('session: is not opened by a failing initialize', async () => {
    await using test = await TestRoutes.start({
      initialize: (request) => request.sendError({ code: -32602, message: 'no' }),
    });
    const { status, headers } = await test.post({ ...call, method: 'initialize' });
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('mcp-session-id');
    await eventually(() => test.connections[0]?.closed === 1);
  });

  it('session: accepts a missing version header and rejects an unknown version', async () => {
    await using test = await TestRoutes.start();
    const session = await test.session();
    expect((await test.post(call, { ...session, 'mcp-protocol-version': '2025-06-18' })).status).toBe(200);
    expect((await test.post(call, { ...session, 'mcp-protocol-version': '1999-01-01' })).status).toBe(400);
  });

  it('session: ends with DELETE, which cancels running requests', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start({ 'tools/call': (request) => void held.push(request) });
    const session = await test.session();
    const running = test.post(call, session);
    await eventually(() => held.length === 1);
    expect((await test.send('DELETE', '/mcp', { headers: session })).status).toBe(204);
    expect((await running).messages).toMatchObject([
      { id: 1, error: { message: 'The client ended the session.' } },
    ]);
    expect(held[0]?.cancellation.reason).toMatchObject({ code: 'CALL_CANCELLED' });
    expect(test.connections[0]?.closed).toBe(1);
    expect((await test.post(call, session)).status).toBe(404);
  });

  it('session: is rejected with 503 when the limit is reached', async () => {
    await using test = await TestRoutes.start({}, { maxSessions: 1 });
    const session = await test.session();
    await using _stream = await test.stream('GET', '/mcp', { headers: session });
    const refused = await test.post({ ...call, method: 'initialize' });
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
  });

  it('session: echoes request ids of every kind', async () => {
    await using test = await TestRoutes.start();
    const session = await test.session();
    for (const id of ['-1', '"ä\\n"', '0', '9223372036854775807', '1.5']) {
      const { text } = await test.post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`, session);
      expect(text).toBe(`{"jsonrpc":"2.0","id":${id},"result":{"method":"ping"}}`);
    }
  });
});

describe('responses', () => {
  it('response: becomes an event stream when notifications precede it', async () => {
    await using test = await TestRoutes.start({ 'tools/call': reporting });
    const { status, headers, messages } = await test.post(call, { ...(await test.session()), accept: both });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    expect(messages).toMatchObject([
      { params: { progress: 1 } },
      { params: { progress: 2 } },
      { result: { done: true } },
    ]);
  });

  it('response: drops notifications for a client that accepts only JSON', async () => {
    await using test = await TestRoutes.start({ 'tools/call': reporting });
    const { headers, messages } = await test.post(call, {
      ...(await test.session()),
      accept: 'application/json',
    });
    expect(headers['content-type']).toBe('application/json');
    expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: { done: true } }]);
  });

  it('response: is an event stream for a client that accepts only events', async () => {
    await using test = await TestRoutes.start();
    const { headers, messages } = await test.post(call, {
      ...(await test.session()),
      accept: 'text/event-stream',
    });
    expect(headers['content-type']).toBe('text/event-stream');
    expect(messages).toMatchObject([{ id: 1, result: {} }]);
  });

  it('response: is sent once, however often the handler responds', async () => {
    await using test = await TestRoutes.start({
      'tools/call': (request) => {
        request.sendResult(Payload.of({ first: true }));
        request.sendResult(Payload.of({ second: true }));
        request.sendError({ code: 1, message: 'third' });
        request.notify('notifications/late', undefined);
        throw new Error('fourth');
      },
    });
    const { messages } = await test.post(call, await test.session());
    expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: { first: true } }]);
  });

  it('response: is -32603 without details, and logged, when the handler throws', async () => {
    const fails = (): void => {
      throw new Error('secret detail');
    };
    await using test = await TestRoutes.start({ 'tools/call': fails });
    for (const answer of [
      await test.post(call, await test.session()),
      await test.modern('tools/call', { name: 'x' }),
    ]) {
      expect(answer.status).toBe(200);
      expect(answer.messages).toMatchObject([{ error: { code: -32603 } }]);
      expect(answer.text).not.toContain('secret');
    }
    expect(test.logged).toEqual(['A session failed unexpectedly.', 'A request failed unexpectedly.']);
  });

  it('response: is -32603 when no handler can be created', async () => {
    const connect = (): never => {
      throw new Error('nobody');
    };
    await using test = await TestRoutes.start({}, { connect });
    expect((await test.modern('ping')).messages).toMatchObject([{ error: { code: -32603 } }]);
    expect((await test.post({ ...call, method: 'initialize' })).messages).toMatchObject([
      { error: { code: -32603 } },
    ]);
    expect((await test.send('GET', '/sse')).status).toBe(500);
  });

  it('response: is an error when the result cannot be serialised', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    await using test = await TestRoutes.start({
      'tools/call': (request) => request.sendResult(Payload.of(circular)),
    });
    const { messages } = await test.post(call, await test.session());
    expect(messages).toMatchObject([{ id: 1, error: { code: -32603 } }]);
  });

  it('response: becomes an event stream when it takes long', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start(
      { 'tools/call': (request) => void held.push(request) },
      { keepAliveMs: 5 },
    );
    const stream = await test.stream('POST', '/mcp', {
      headers: await test.session(),
      body: JSON.stringify(call),
    });
    await stream.comments.waitFor(() => true);
    held[0]?.sendResult(Payload.of({ late: true }));
    await stream.ended;
    // The first event carries only an id, from which a client can resume.
    expect(stream.events.all.map(({ data }) => data)).toEqual([
      '',
      '{"jsonrpc":"2.0","id":1,"result":{"late":true}}',
    ]);
  });
});

describe('cancellation', () => {
  it('cancellation: follows when the client disconnects', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start({ 'tools/call': (request) => void held.push(request) });
    const session = await test.session();
    const socket = connectSocket(Number(test.listener.url.port), '127.0.0.1');
    const body = JSON.stringify(call);
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Mcp-Session-Id: ${session['mcp-session-id']}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await eventually(() => held.length === 1);
    socket.destroy();
    await eventually(() => held[0]?.cancellation.reason !== undefined);
    expect(held[0]?.cancellation.reason).toMatchObject({ code: 'CALL_CANCELLED' });
    held[0]?.sendResult(Payload.of({})); // No client receives it, and nothing fails.
    expect((await test.post({ ...call, method: 'ping' }, session)).status).toBe(200);
  });

  it('cancellation: ends the stream without a response when notified', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start({ 'tools/call': (request) => void held.push(request) });
    const session = await test.session();
    const first = test.post(call, session);
    const second = test.post({ ...call, id: '1' }, { ...session, accept: 'application/json' });
    await eventually(() => held.length === 2);
    for (const requestId of [99, 1, '1']) {
      await test.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, session);
    }
    expect(await first).toMatchObject({ status: 200, text: '' });
    expect((await second).messages).toMatchObject([
      { id: '1', error: { message: 'The request was cancelled.' } },
    ]);
    expect(held.every(({ cancellation }) => cancellation.reason !== undefined)).toBe(true);
    expect(test.connections[0]?.notifications).toEqual([]);
  });
});

describe('unread responses', () => {
  const DISCONNECTED = 'Disconnected a client that did not read its responses.';

  it('unread call: disconnects a client that does not read the messages of its call, while others are served', async () => {
    const requests: IncomingRequest[] = [];
    await using test = await TestRoutes.start(
      { 'tools/call': (request) => void requests.push(request) },
      { maxBufferedBytes: 100_000 },
    );
    const { 'mcp-session-id': session } = await test.session();
    const opening = openUnread(test.url, session, call);
    await eventually(() => expect(requests).toHaveLength(1));
    requests[0]?.notify('notifications/message', { text: 'first' });
    const unread = await opening;
    await eventually(() => {
      requests[0]?.notify('notifications/message', { text: 'x'.repeat(1_000_000) });
      return test.logged.includes(DISCONNECTED);
    });
    expect((await test.post({ ...call, method: 'tools/list' }, await test.session())).status).toBe(200);
    unread.destroy();
  });

  it.each([both, 'text/event-stream'])(
    'unread results: disconnect the oldest client when they exceed the limit of all clients (%s)',
    async (accept) => {
      await using test = await TestRoutes.start(
        { 'tools/call': (request) => request.sendResult(Payload.of({ text: 'x'.repeat(10_000_000) })) },
        { maxUnsentBytes: 15_000_000, maxBufferedBytes: 100_000_000 },
      );
      const { 'mcp-session-id': session } = await test.session();
      const clients = [];
      for (let id = 1; id <= 4; id++)
        clients.push(await openUnread(test.url, session, { ...call, id }, accept));
      expect(test.logged).toContain(DISCONNECTED);
      for (const client of clients) client.destroy();
    },
  );
});
