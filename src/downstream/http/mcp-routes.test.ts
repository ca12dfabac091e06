import { describe, expect, it } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { TestRoutes } from '../../../test/support/mcp-routes.ts';
import type { IncomingRequest } from '../../protocol/client-connection.ts';

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

describe('Host, Origin and routes', () => {
  it.each(['localhost', 'LOCALHOST:80', '127.0.0.1:1', '[::1]:5'])(
    'http: accepts the host %s',
    async (host) => {
      await using test = await TestRoutes.start();
      const { status } = await test.post(ping, { host });
      expect(status).toBe(400); // It is asked for its session.
    },
  );

  it.each(['evil.example.com', 'localhost.evil.com', '10.0.0.1', '127.0.0.1.evil.com', 'localhost:80:80'])(
    'http: rejects the host %s to prevent DNS rebinding',
    async (host) => {
      await using test = await TestRoutes.start();
      for (const path of ['/mcp', '/sse', '/messages']) {
        const answer = await test.send('POST', path, { body: '{}', headers: { host } });
        expect(answer.status).toBe(403);
        expect(answer.messages[0]).toMatchObject({
          id: null,
          error: { message: 'This Host is not allowed. Add it to http.allowedHosts if it is yours.' },
        });
      }
      expect(test.logged).toContain('Rejected a request because of its Host or Origin header.');
    },
  );

  it.each([
    'http://evil.example.com',
    'null',
    'http://localhost.evil.com',
    'file://',
    'http://127.0.0.1.evil.com:80',
  ])('http: rejects the origin %s without CORS headers', async (origin) => {
    await using test = await TestRoutes.start();
    const { status, headers } = await test.modern('ping', {}, { origin });
    expect(status).toBe(403);
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect((await test.send('OPTIONS', '/mcp', { headers: { origin } })).status).toBe(403);
  });

  it('http: accepts configured hosts and origins', async () => {
    await using test = await TestRoutes.start(
      {},
      {
        allowedHosts: ['Gateway.internal'],
        allowedOrigins: ['https://APP.example.com', 'vscode-webview://abc'],
      },
    );
    for (const origin of ['https://app.example.com', 'vscode-webview://abc']) {
      const { status, headers } = await test.modern('ping', {}, { host: 'gateway.INTERNAL:8443', origin });
      expect(status).toBe(200);
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(headers['access-control-expose-headers']).toContain('Mcp-Session-Id');
    }
  });

  it('http: answers the preflight request of an allowed origin', async () => {
    await using test = await TestRoutes.start({}, { allowedOrigins: ['http://localhost:5173'] });
    const { status, headers } = await test.send('OPTIONS', '/mcp', {
      headers: { origin: 'http://localhost:5173' },
    });
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe('http://localhost:5173');
    expect(headers['access-control-allow-headers']).toContain('Mcp-Session-Id');
    expect(headers['access-control-allow-methods']).toContain('DELETE');
  });

  it('http: sends no CORS headers without an Origin', async () => {
    await using test = await TestRoutes.start();
    expect((await test.modern('ping')).headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('http: answers 404 for an unknown path', async () => {
    await using test = await TestRoutes.start();
    const { status, text } = await test.send('GET', '/mcp/elsewhere');
    expect(status).toBe(404);
    expect(JSON.parse(text)).toEqual({ error: expect.stringContaining('/mcp') });
  });

  it.each(['PUT', 'PATCH', 'HEAD'])('http: rejects %s with 405', async (method) => {
    await using test = await TestRoutes.start();
    const { status, headers } = await test.send(method, '/mcp');
    expect(status).toBe(405);
    expect(headers.allow).toBe('POST, GET, DELETE');
  });
});

describe('health endpoints', () => {
  it('health: reports liveness and readiness separately', async () => {
    let isReady = false;
    await using test = await TestRoutes.start({}, { isReady: () => isReady });
    expect(await test.send('GET', '/healthz')).toMatchObject({ status: 200, text: 'ok' });
    expect(await test.send('GET', '/readyz')).toMatchObject({ status: 503 });
    isReady = true;
    expect(await test.send('GET', '/readyz')).toMatchObject({ status: 200 });
    test.routes.stopAccepting();
    expect(await test.send('GET', '/readyz')).toMatchObject({ status: 503 });
    expect(await test.send('GET', '/healthz')).toMatchObject({ status: 200 });
  });
});

describe('shutdown', () => {
  it('drain: fails readiness, keeps serving and asks clients to reconnect', async () => {
    await using test = await TestRoutes.start();
    const stay = { connection: 'keep-alive' };
    const before = await test.modern('ping', {}, stay);
    expect(before.headers.connection).toBe('keep-alive');
    test.routes.startDraining();
    const opening = { ...ping, method: 'initialize' };
    expect(await test.send('GET', '/readyz')).toMatchObject({ status: 503 });
    expect(await test.send('GET', '/healthz')).toMatchObject({ status: 200 });
    for (const answer of [await test.modern('ping', {}, stay), await test.post(opening, stay)])
      expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
  });

  it('stop accepting: rejects new requests with 503 and finishes running ones', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start({ slow: (request) => void held.push(request) });
    const slow = test.modern('slow');
    await eventually(() => held.length === 1);
    test.routes.stopAccepting();
    const refused = await test.modern('ping');
    expect(refused).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '1' } });
    held[0]?.sendError({ code: 5, message: 'done' });
    expect((await slow).messages[0]).toMatchObject({ error: { code: 5 } });
  });

  it('dispose: fails running requests with SHUTTING_DOWN and closes streams and connections', async () => {
    const held: IncomingRequest[] = [];
    const test = await TestRoutes.start({ slow: (request) => void held.push(request) });
    const session = await test.session();
    const legacy = test.post({ ...ping, method: 'slow' }, session);
    const modern = test.modern('slow');
    const stream = await test.stream('GET', '/mcp', { headers: session });
    const old = await test.stream('GET', '/sse');
    await eventually(() => held.length === 2);
    await test[Symbol.asyncDispose]();
    expect((await legacy).messages[0]).toMatchObject({
      id: 1,
      error: { message: 'The gateway is shutting down.' },
    });
    expect((await modern).messages[0]).toMatchObject({
      id: 7,
      error: { message: 'The gateway is shutting down.' },
    });
    await Promise.all([stream.ended, old.ended]);
    expect(held.map(({ cancellation }) => cancellation.reason)).toMatchObject([
      { code: 'SHUTTING_DOWN' },
      { code: 'SHUTTING_DOWN' },
    ]);
    await eventually(() => test.connections.every(({ closed }) => closed === 1));
  });

  it('dispose: delivers the last response of a handler', async () => {
    const test = await TestRoutes.start({
      slow: (request) => {
        request.notify('notifications/open', undefined);
        request.cancellation.onCancel(() => request.sendError({ code: 9, message: 'goodbye' }));
      },
    });
    const stream = await test.stream('POST', '/mcp', {
      headers: { ...(await test.session()) },
      body: JSON.stringify({ ...ping, method: 'slow' }),
    });
    await test[Symbol.asyncDispose]();
    await stream.ended;
    expect(stream.events.all.at(-1)?.data).toContain('goodbye');
  });

  it('dispose: disconnects a client that does not read', async () => {
    await using test = await TestRoutes.start({
      flood: (request) => request.notify('notifications/much', { text: 'x'.repeat(8_000_000) }),
    });
    const session = await test.session();
    const stream = await test.stream('POST', '/mcp', {
      headers: session,
      body: JSON.stringify({ ...ping, method: 'flood' }),
    });
    stream.message.pause();
    await test.routes[Symbol.asyncDispose]();
    stream.message.resume();
    await stream.ended;
    expect(stream.message.complete).toBe(false);
  });
});
