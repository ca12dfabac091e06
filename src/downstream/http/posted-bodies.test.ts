import { connect as connectSocket } from 'node:net';

import { describe, expect, it } from 'vitest';

import { TestRoutes } from '../../../test/support/mcp-routes.ts';

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } };

describe('request bodies', () => {
  it('request body: is answered with -32700 when it is not JSON', async () => {
    await using test = await TestRoutes.start();
    for (const body of ['{', '', '\uFEFF{}', Buffer.from([0x22, 0xff, 0x22])]) {
      const { status, messages } = await test.send('POST', '/mcp', { body });
      expect(status).toBe(400);
      expect(messages).toMatchObject([{ id: null, error: { code: -32700 } }]);
    }
  });

  it('request body: is answered with -32600 and its id when it is not a message', async () => {
    await using test = await TestRoutes.start();
    const { status, messages } = await test.post({ id: 'a', method: 'ping' });
    expect(status).toBe(400);
    expect(messages).toMatchObject([{ id: 'a', error: { code: -32600 } }]);
  });

  it.each(['text/plain', 'application/jsonx', 'application/x-www-form-urlencoded', ''])(
    'request body: is rejected with the content type %s, which an HTML form could send',
    async (type) => {
      await using test = await TestRoutes.start();
      expect((await test.post(call, { 'content-type': type })).status).toBe(415);
    },
  );

  it('request body: is accepted with a charset in the content type', async () => {
    await using test = await TestRoutes.start();
    const session = await test.session();
    const { status } = await test.post(call, {
      ...session,
      'content-type': 'Application/JSON; charset=utf-8',
    });
    expect(status).toBe(200);
  });

  it('request body: is rejected when the client accepts neither JSON nor events', async () => {
    await using test = await TestRoutes.start();
    expect((await test.post(call, { accept: 'text/html, application/json;q=0' })).status).toBe(406);
  });

  it('request body: is rejected with a readable 413 when too large, declared or chunked', async () => {
    await using test = await TestRoutes.start({}, { maxBodyBytes: 100_000 });
    const body = JSON.stringify({ ...call, params: { text: 'x'.repeat(150_000) } });
    const declared = await test.post(body);
    expect(declared.status).toBe(413);
    expect(declared.messages).toMatchObject([
      {
        error: { message: 'A message may have at most 100000 bytes. Send less, or raise http.maxBodyBytes.' },
      },
    ]);
    const chunked = await test.post(body, { 'transfer-encoding': 'chunked' });
    expect(chunked.status).toBe(413);
    expect(chunked.headers.connection).toBe('close');
    expect(test.connections).toHaveLength(0);
  });

  it('request body: is no longer read once it exceeds the limit', async () => {
    await using test = await TestRoutes.start({}, { maxBodyBytes: 1000 });
    const socket = connectSocket(Number(test.listener.url.port), '127.0.0.1');
    socket.on('error', () => {}); // A reset is one way of being cut off.
    const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    const timer = setInterval(() => socket.write(`400\r\n${'x'.repeat(1024)}\r\n`), 1);
    await closed;
    clearInterval(timer);
    expect(socket.bytesWritten).toBeLessThan(1_000_000);
  });

  it('request body: is accepted in many chunks', async () => {
    await using test = await TestRoutes.start({}, { maxBodyBytes: 20_000_000 });
    const session = await test.session();
    const body = JSON.stringify({ ...call, params: { text: 'ä€😀'.repeat(500_000) } });
    const { status, messages } = await test.post(body, session);
    expect(status).toBe(200);
    expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: { method: 'tools/call' } }]);
  });
});
