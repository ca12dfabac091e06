import { connect as connectSocket } from 'node:net';

import { describe, expect, it } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { TestRoutes } from '../../../test/support/mcp-routes.ts';
import { withEnvelope, modernHeaders } from '../../../test/support/modern-envelope.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { IncomingRequest } from '../../protocol/client-connection.ts';

const version = { 'mcp-protocol-version': '2026-07-28' };

describe('modern requests', () => {
  it('modern request: needs no session, gets its own connection and ignores session headers', async () => {
    await using test = await TestRoutes.start();
    const first = await test.modern('tools/list', {}, { 'mcp-session-id': 'whatever', 'last-event-id': '4' });
    await test.modern('tools/list');
    expect(first).toMatchObject({ status: 200, messages: [{ id: 7, result: { method: 'tools/list' } }] });
    expect(first.headers).not.toHaveProperty('mcp-session-id');
    await eventually(() => test.connections.map(({ closed }) => closed).join() === '1,1');
  });

  it('modern request: works beside sessions on the same path', async () => {
    await using test = await TestRoutes.start();
    const session = await test.session();
    expect((await test.modern('ping', {}, session)).status).toBe(200);
    expect((await test.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, session)).status).toBe(200);
    expect(test.connections).toHaveLength(2);
  });

  it('modern request: accepts a padded or encoded Mcp-Name header', async () => {
    await using test = await TestRoutes.start();
    expect((await test.modern('tools/call', { name: 'x' }, { 'mcp-name': '  x  ' })).status).toBe(200);
    const encoded = `=?base64?${Buffer.from('größe').toString('base64')}?=`;
    expect((await test.modern('tools/call', { name: 'größe' }, { 'mcp-name': encoded })).status).toBe(200);
  });

  it('modern request: is rejected when headers and body disagree', async () => {
    await using test = await TestRoutes.start();
    const refusals = [
      await test.modern('tools/list', {}, { 'mcp-method': 'prompts/list' }),
      await test.modern('tools/list', {}, { 'mcp-protocol-version': '2025-11-25' }),
      await test.modern('tools/call', { name: 'x' }, { 'mcp-name': 'y' }),
    ];
    for (const { status, messages } of refusals) {
      expect(status).toBe(400);
      expect(messages).toMatchObject([{ id: 7, error: { code: -32020 } }]);
    }
    expect(test.connections).toHaveLength(0);
  });

  it('modern request: is rejected with the supported versions for an unknown version', async () => {
    await using test = await TestRoutes.start();
    const params = withEnvelope({}, { version: 'v999' });
    const message = { jsonrpc: '2.0', id: 301, method: 'server/discover', params };
    const { status, messages } = await test.post(message, modernHeaders('server/discover', {}, 'v999'));
    expect(status).toBe(400);
    expect(messages).toMatchObject([
      { id: 301, error: { code: -32022, data: { supported: ['2026-07-28'], requested: 'v999' } } },
    ]);
  });

  it.each([
    ['no params', undefined],
    ['no _meta', {}],
    ['no version', { _meta: { 'io.modelcontextprotocol/clientCapabilities': {} } }],
    ['no capabilities', { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }],
  ])('modern request: is rejected with -32602 when its envelope has %s', async (_, params) => {
    await using test = await TestRoutes.start();
    const message = { jsonrpc: '2.0', id: 101, method: 'server/discover', params };
    const { status, messages } = await test.post(message, { ...version, 'mcp-method': 'server/discover' });
    expect(status).toBe(400);
    expect(messages).toMatchObject([{ id: 101, error: { code: -32602 } }]);
  });

  it.each([
    [-32601, 404],
    [-32020, 400],
    [-32021, 400],
    [-32022, 400],
    [-32602, 200],
    [-32603, 200],
    [42, 200],
  ])('modern request: answers error %i with status %i', async (code, status) => {
    await using test = await TestRoutes.start({
      fail: (request) => request.sendError({ code, message: 'no', data: 1 }),
    });
    const answer = await test.modern('fail');
    expect(answer.status).toBe(status);
    expect(answer.messages).toEqual([{ jsonrpc: '2.0', id: 7, error: { code, message: 'no', data: 1 } }]);
  });

  it('modern request: passes initialize to the handler', async () => {
    await using test = await TestRoutes.start({
      initialize: (request) => request.sendError({ code: -32601, message: 'gone' }),
    });
    expect((await test.modern('initialize')).status).toBe(404);
  });

  it('modern request: is cancelled when its stream is closed', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start({
      'subscriptions/listen': (request) => {
        held.push(request);
        request.notify('notifications/subscriptions/acknowledged', {});
      },
    });
    const method = 'subscriptions/listen';
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: withEnvelope({}, {}) });
    const stream = await test.stream('POST', '/mcp', { headers: modernHeaders(method, {}), body });
    expect(stream.headers['content-type']).toBe('text/event-stream');
    await stream.events.waitFor(({ data }) => data.includes('acknowledged'));
    held[0]?.notify('notifications/tools/list_changed', { _meta: {} });
    await stream.events.waitFor(({ data }) => data.includes('list_changed'));
    expect(held[0]?.cancellation.reason).toBeUndefined();
    await stream[Symbol.asyncDispose]();
    await eventually(() => test.connections[0]?.closed === 1);
    expect(held[0]?.cancellation.reason).toMatchObject({ code: 'CALL_CANCELLED' });
  });

  it('modern request: is cancelled with its connection when pipelined', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start({ slow: (request) => void held.push(request) });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'slow', params: withEnvelope({}, {}) });
    const headers = Object.entries(modernHeaders('slow', {})).map(([name, value]) => `${name}: ${value}\r\n`);
    const length = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    const socket = connectSocket(Number(test.listener.url.port), '127.0.0.1');
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${headers.join('')}${length}\r\n${body}`.repeat(3),
    );
    await eventually(() => held.length === 3);
    socket.destroy();
    await eventually(() => held.every(({ cancellation }) => cancellation.reason !== undefined));
    expect(test.connections.map(({ closed }) => closed)).toEqual([1, 1, 1]);
  });

  it('modern request: ends its stream with the result', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start({
      listen: (request) => {
        held.push(request);
        request.notify('notifications/acknowledged', {});
      },
    });
    const answer = test.modern('listen');
    await eventually(() => held.length === 1);
    held[0]?.sendResult(Payload.of({ resultType: 'complete' }));
    expect((await answer).messages).toMatchObject([
      { method: 'notifications/acknowledged' },
      { id: 7, result: {} },
    ]);
  });
});

describe('other modern messages', () => {
  it('modern notification: is accepted with or without headers', async () => {
    await using test = await TestRoutes.start();
    const notification = { jsonrpc: '2.0', method: 'notifications/custom' };
    expect(await test.post(notification, version)).toMatchObject({ status: 202, text: '' });
    expect((await test.post({ ...notification, params: withEnvelope({}, {}) })).status).toBe(202);
    expect(test.connections.map(({ notifications, closed }) => [notifications.length, closed])).toEqual([
      [1, 1],
      [1, 1],
    ]);
    const contradicted = await test.post(notification, { ...version, 'mcp-method': 'other' });
    expect(contradicted).toMatchObject({ status: 400, messages: [{ error: { code: -32020 } }] });
  });

  it('modern response: is rejected', async () => {
    await using test = await TestRoutes.start();
    const { status, messages } = await test.post({ jsonrpc: '2.0', id: 1, result: {} }, version);
    expect(status).toBe(400);
    expect(messages).toMatchObject([{ error: { code: -32600 } }]);
  });

  it('modern GET and DELETE: are rejected with 405', async () => {
    await using test = await TestRoutes.start();
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await test.send(method, '/mcp', { headers: version });
      expect(status).toBe(405);
      expect(headers.allow).toBe('POST');
    }
  });
});
