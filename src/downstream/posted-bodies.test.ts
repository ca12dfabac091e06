import { connect as connectSocket } from 'node:net';

import { describe, expect, it } from 'vitest';

import { TestRoutes } from '../../test/support/mcp-routes.ts';

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } };

describe('what is no message', () => {
  it('answers a body that is not JSON with -32700', async () => {
    await using test = await TestRoutes.start();
    for (const body of ['{', '', '\uFEFF{}', Buffer.from([0x22, 0xff, 0x22])]) {
      const { status, messages } = await test.send('POST', '/mcp', { body });
      expect(status).toBe(400);
      expect(messages).toMatchObject([{ id: null, error: { code: -32700 } }]);
    }
  });

  it('answers JSON that is no message with -32600 and the id that can be read', async () => {
    await using test = await TestRoutes.start();
    const { status, messages } = await test.post({ id: 'a', method: 'ping' });
    expect(status).toBe(400);
    expect(messages).toMatchObject([{ id: 'a', error: { code: -32600 } }]);
  });

  it.each(['text/plain', 'application/jsonx', 'application/x-www-form-urlencoded', ''])(
    'refuses the content type %s, which a form in a page could send',
    async (type) => {
      await using test = await TestRoutes.start();
      expect((await test.post(call, { 'content-type': type })).status).toBe(415);
    },
  );

  it('takes a content type with a charset', async () => {
    await using test = await TestRoutes.start();
    const session = await test.session();
    const { status } = await test.post(call, {
      ...session,
      'content-type': 'Application/JSON; charset=utf-8',
    });
    expect(status).toBe(200);
  });

  it('refuses a client that can read neither JSON nor events', async () => {
    await using test = await TestRoutes.start();
    expect((await test.post(call, { accept: 'text/html, application/json;q=0' })).status).toBe(406);
  });

  it('refuses a large body before and while it comes, and the client can read why', async () => {
    await using test = await TestRoutes.start({}, { maxBodyBytes: 100_000 });
    const body = JSON.stringify({ ...call, params: { text: 'x'.repeat(150_000) } });
    const declared = await test.post(body);
    expect(declared.status).toBe(413);
    expect(declared.messages).toMatchObject([
      { error: { message: 'A message may have at most 100000 bytes.' } },
    ]);
    const chunked = await test.post(body, { 'transfer-encoding': 'chunked' });
    expect(chunked.status).toBe(413);
    expect(chunked.headers.connection).toBe('close');
    expect(test.connections).toHaveLength(0);
  });

  it('stops reading a body without end', async () => {
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

  it('takes a body in many pieces', async () => {
    await using test = await TestRoutes.start({}, { maxBodyBytes: 20_000_000 });
    const session = await test.session();
    const body = JSON.stringify({ ...call, params: { text: 'ä€😀'.repeat(500_000) } });
    const { status, messages } = await test.post(body, session);
    expect(status).toBe(200);
    expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: { method: 'tools/call' } }]);
  });
});
